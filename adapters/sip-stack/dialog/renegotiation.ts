import { parseCSeq, parseSessionExpires } from "../message/header-values.ts";
import type { SipRequest } from "../message/sip-message.ts";
import type { System } from "../ports.ts";
import type { IncomingRequest } from "../transaction/transactions.ts";
import type { SipDialog } from "./dialog.ts";
import type { InviteRequest } from "./invite.ts";
import type { InviteRefusal } from "./refusals.ts";
import { sdpOf } from "./session-description.ts";
import { MIN_SESSION_S, type SessionTerms, termsOfRequest } from "./session-timer.ts";
import type { AgentContext } from "./user-agent-context.ts";
import { ALLOW, type HeaderField } from "./user-agent-options.ts";

/** Receives the results of a renegotiation. */
interface RenegotiationListener {
  /** The peer has sent a new session description. */
  described(sdp: string): void;
  /** The session was refreshed with these terms; undefined if the peer sent none. */
  refreshed(terms: SessionTerms | undefined): void;
  /** Our offer in a 2xx got no answer, or an unacceptable answer. */
  failed(detail: string): void;
}

/** Responds to the peer's re-INVITE and UPDATE (RFC 3261 section 14.2, RFC 3311, RFC 3264). */
export class Renegotiation {
  readonly #context: AgentContext;
  readonly #dialog: SipDialog;
  readonly #call: Pick<InviteRequest, "negotiator" | "callId">;
  readonly #listener: RenegotiationListener;
  /** True while our offer is pending: neither side may send another one until it is answered. */
  isOfferPending = true;
  /** CSeq of the re-INVITE whose 2xx carries our offer; the answer is in its ACK. */
  #offerCSeq: number | undefined;

  constructor(
    context: AgentContext,
    dialog: SipDialog,
    call: Pick<InviteRequest, "negotiator" | "callId">,
    listener: RenegotiationListener,
  ) {
    this.#context = context;
    this.#dialog = dialog;
    this.#call = call;
    this.#listener = listener;
  }

  /** Responds to a re-INVITE or an UPDATE. @param isEarly true if the call has not been answered yet */
  answer(transaction: IncomingRequest, isEarly: boolean): void {
    const { request } = transaction;
    const { callId } = this.#call;
    const sdp = sdpOf(request);
    const answer = this.#refusal(request, sdp) ?? this.#describe(request, sdp, isEarly);
    if (typeof answer !== "string") {
      this.#context.reply(transaction, answer.status, { ...answer, callId });
      return;
    }
    this.#dialog.refreshTarget(request);
    const session = this.#usesTimers ? termsOfRequest(request.headers) : undefined;
    const headers: HeaderField[] = [ALLOW, ...(session?.fields ?? [])];
    if (this.#usesTimers) headers.push(["Supported", "timer"]);
    if (answer !== "") headers.push(["Content-Type", "application/sdp"]);
    this.#context.reply(transaction, 200, { headers, body: new TextEncoder().encode(answer), contact: true, callId });
    this.#listener.refreshed(session?.terms);
    if (sdp !== undefined) this.#listener.described(sdp);
  }

  /** Handles the ACK to our 2xx: it carries the answer if the re-INVITE had no offer. */
  takeAck(ack: SipRequest): void {
    if (this.#offerCSeq === undefined || parseCSeq(ack.headers.get("CSeq"))?.number !== this.#offerCSeq) return;
    this.#offerCSeq = undefined;
    this.isOfferPending = false;
    const sdp = sdpOf(ack);
    const fault =
      sdp === undefined
        ? "the peer asked for our offer and acknowledged it without an answer"
        : this.#call.negotiator.takeAnswer(sdp, false);
    if (fault !== undefined) this.#listener.failed(fault);
    else if (sdp !== undefined) this.#listener.described(sdp);
  }

  get #usesTimers(): boolean {
    return this.#context.options.sessionTimers !== false;
  }

  #refusal(request: SipRequest, sdp: string | undefined): InviteRefusal | undefined {
    if (sdp === undefined && request.body.length > 0) return { status: 415, headers: [["Accept", "application/sdp"]] };
    if (this.isOfferPending && (sdp !== undefined || request.method === "INVITE")) return { status: 491 };
    const seconds = parseSessionExpires(request.headers.get("Session-Expires"))?.seconds ?? MIN_SESSION_S;
    if (this.#usesTimers && seconds < MIN_SESSION_S)
      return { status: 422, headers: [["Min-SE", String(MIN_SESSION_S)]] };
    return undefined;
  }

  /** The body of the 2xx: our answer, or our offer if a re-INVITE has none. */
  #describe(request: SipRequest, sdp: string | undefined, isEarly: boolean): string | InviteRefusal {
    if (sdp !== undefined) return this.#call.negotiator.answerOffer(sdp, isEarly) ?? { status: 488 };
    if (request.method !== "INVITE") return "";
    this.isOfferPending = true;
    this.#offerCSeq = parseCSeq(request.headers.get("CSeq"))?.number;
    return this.#call.negotiator.offer(true); // the peer may pass it on to another phone (RFC 3725)
  }
}

/** Watches whether the peer holds us (RFC 3264 section 8.4), and reports a hold that exceeds the limit. */
export class HoldWatch {
  readonly #system: System;
  readonly #limitMs: number;
  readonly #onChange: (isHeld: boolean) => void;
  readonly #onTimeout: () => void;
  #isHeld = false;
  #cancel: () => void = () => {};

  constructor(system: System, limitMs: number, onChange: (isHeld: boolean) => void, onTimeout: () => void) {
    this.#system = system;
    this.#limitMs = limitMs;
    this.#onChange = onChange;
    this.#onTimeout = onTimeout;
  }

  /** Updates the state from the peer's latest SDP. */
  set(isHeld: boolean): void {
    if (isHeld === this.#isHeld) return;
    this.#isHeld = isHeld;
    this.#cancel();
    this.#onChange(isHeld);
    // The callback may have ended the call: then `stop` was called, and the hold has ended.
    if (isHeld && this.#isHeld) this.#cancel = this.#system.after(this.#limitMs, this.#onTimeout);
  }

  stop(): void {
    this.#isHeld = false;
    this.#cancel();
  }
}
