import { parseSessionExpires } from "../message/header-values.ts";
import type { SipResponse } from "../message/sip-message.ts";
import type { DialogRequest } from "./dialog-requests.ts";
import type { DialogUsage } from "./dialog-usage.ts";
import { sdpOf } from "./session-description.ts";
import { type SessionTerms, termsOfAnswer } from "./session-timer.ts";
import type { AgentContext } from "./user-agent-context.ts";
import type { HeaderField } from "./user-agent-options.ts";

/** Time after a temporary refusal until the refresh is retried, ms. */
const RETRY_MS = 10_000;

/**
 * Refreshes a session if we are its refresher: by UPDATE if the peer allows it, otherwise by re-INVITE (RFC 4028
 * section 7.4).
 */
export class SessionRefresh {
  readonly #context: AgentContext;
  readonly #usage: DialogUsage;
  #isUpdateRefused = false;
  #minSeS = 0;
  #isRunning = false;

  constructor(context: AgentContext, usage: DialogUsage) {
    this.#context = context;
    this.#usage = usage;
  }

  /** Refreshes the session with these terms. */
  start(terms: SessionTerms): void {
    if (this.#isRunning) return;
    if (this.#usage.renegotiation.isOfferPending) {
      this.#usage.timer.refreshIn(this.#context.glareDelayMs());
      return;
    }
    const headers: HeaderField[] = [
      ["Session-Expires", `${Math.max(terms.intervalS, this.#minSeS)};refresher=uac`],
      ["Supported", "timer"],
    ];
    if (this.#minSeS > 0) headers.push(["Min-SE", String(this.#minSeS)]);
    this.#isRunning = true;
    if (this.#usage.allows("UPDATE") && !this.#isUpdateRefused) {
      this.#send("UPDATE", { headers, contact: true });
      return;
    }
    this.#usage.renegotiation.isOfferPending = true;
    const body = new TextEncoder().encode(this.#usage.call.negotiator.offer());
    this.#send("INVITE", { headers, body, contentType: "application/sdp", contact: true });
  }

  #send(method: "UPDATE" | "INVITE", parts: DialogRequest): void {
    const uacRequest = this.#usage.requests.send(method, parts, {
      maySend: this.#usage.call.maySend,
      final: (response) => {
        this.#finish(method);
        if (response.status >= 300) this.#onRefusal(method, response);
        else this.#onSuccess(method, response, uacRequest.authorization);
      },
      failed: (fault) => {
        this.#finish(method);
        this.#usage.fail(`the session could not be refreshed: ${fault.message}`);
      },
    });
  }

  #finish(method: string): void {
    this.#isRunning = false;
    if (method === "INVITE") this.#usage.renegotiation.isOfferPending = false;
  }

  #onSuccess(method: string, response: SipResponse, authorization: readonly HeaderField[]): void {
    const { dialog, call, timer, requests } = this.#usage;
    dialog.refreshTarget(response);
    if (method === "INVITE") requests.acknowledge(response, authorization);
    // A 2xx without terms: the peer has stopped its timer; ours continues, to detect a dead peer.
    timer.restart(termsOfAnswer(response.headers) ?? timer.terms);
    const sdp = method === "INVITE" ? sdpOf(response) : undefined;
    const fault = sdp === undefined ? undefined : call.negotiator.takeAnswer(sdp, false);
    if (fault !== undefined) this.#usage.fail(fault);
    else if (sdp !== undefined) this.#usage.takeDescription(sdp);
  }

  /** Ends the session immediately after 408 and 481; other refusals leave it until it expires (RFC 4028 section 10). */
  #onRefusal(method: string, { status, headers }: SipResponse): void {
    const { timer } = this.#usage;
    const minSeS = parseSessionExpires(headers.get("Min-SE"))?.seconds ?? 0;
    if (status === 408 || status === 481) this.#usage.fail(`the session could not be refreshed: ${status}`);
    else if (status === 422 && minSeS > this.#minSeS) {
      this.#minSeS = minSeS;
      timer.refreshIn(0);
    } else if (method === "UPDATE" && (status === 405 || status === 501)) {
      this.#isUpdateRefused = true;
      timer.refreshIn(0);
    } else timer.refreshIn(status === 491 ? this.#context.glareDelayMs() : RETRY_MS);
  }
}
