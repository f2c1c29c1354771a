import { tagOf } from "../message/name-addr.ts";
import type { SipRequest, SipResponse } from "../message/sip-message.ts";
import { nextState, type TransferOutcome } from "../ports.ts";
import type { IncomingRequest } from "../transaction/transactions.ts";
import { FlowHold } from "../transport/keep-alive.ts";
import type { Flow } from "../transport/transport.ts";
import { Alerting } from "./alerting.ts";
import { probeDialog } from "./dialog-requests.ts";
import { DialogUsage, type DialogUsageListener } from "./dialog-usage.ts";
import { sendDigitByInfo } from "./dtmf-relay.ts";
import { declineAnswer, Forks } from "./forks.ts";
import {
  INVITE_TRANSITIONS,
  type InviteEnd,
  type InviteInput,
  type InviteRequest,
  type InviteState,
  type InviteUsage,
} from "./invite.ts";
import { InviteAttempts } from "./invite-attempts.ts";
import { UacRequest, type UacRequestListener } from "./uac-request.ts";
import type { AgentContext } from "./user-agent-context.ts";

/** Time limit for the response to CANCEL or BYE, ms; then the call ends without one. */
const RELEASE_TIMEOUT_MS = 4000;

/** One outbound call (RFC 3261 section 13.2), from the INVITE to the last response. */
export class OutboundInvite implements InviteUsage, DialogUsageListener {
  readonly callId: string;
  readonly #context: AgentContext;
  readonly #call: InviteRequest;
  readonly #beforeEnd: (invite: OutboundInvite) => void;
  readonly #fromTag: string;
  readonly #attempts: InviteAttempts;
  readonly #request: UacRequest;
  readonly #forks = new Forks();
  readonly #alerting: Alerting;
  readonly #flowHold = new FlowHold();
  #confirmedUsage: DialogUsage | undefined;
  #state: InviteState = "calling";
  #isPlaced = false;
  /** The end to report after the last response, or if none arrives. */
  #end: InviteEnd = { type: "released" };
  #stopTimer: () => void = () => {};
  #hasReleaseTimer = false;
  readonly #endPromise: Promise<void>;
  #resolveEnd: () => void = () => {};

  /** @param beforeEnd called when the call has ended, before its listener is notified */
  constructor(context: AgentContext, call: InviteRequest, beforeEnd: (invite: OutboundInvite) => void) {
    this.#context = context;
    this.#call = call;
    this.#beforeEnd = beforeEnd;
    this.#alerting = new Alerting(call);
    this.callId = context.token(16);
    this.#fromTag = context.token();
    const { target, caller, headers } = call;
    const ids = { target, callId: this.callId, fromTag: this.#fromTag, caller, headers };
    const attempts = new InviteAttempts(context, ids, call);
    this.#attempts = attempts;
    const listener: UacRequestListener = {
      maySend: call.maySend,
      sent: (_, flow) => this.#onSent(flow),
      provisional: (response, flow) => this.#onProvisional(response, flow),
      retry: (result) => attempts.retry(result),
      restarting: () => this.#forks.keepOnly(undefined),
      final: (response, flow) => {
        if (response.status < 300) this.#onAnswer(response, flow);
        else this.#onRefusal(response);
      },
      failed: ({ message: detail }) => {
        const { isRedirected } = attempts;
        const unreachable: InviteEnd = {
          type: "unreachable",
          detail,
          isRedirected,
          neverRang: this.#neverRang,
        };
        this.#finish(this.#state === "calling" ? unreachable : this.#end);
      },
    };
    this.#request = new UacRequest(context, () => attempts.compose(), listener, call.callId);
    this.#endPromise = new Promise((resolve) => {
      this.#resolveEnd = resolve;
    });
    queueMicrotask(() => this.#state === "calling" && this.#request.send());
  }

  get furthestStatus(): number | undefined {
    return this.#alerting.furthestStatus;
  }

  hangUp(reason?: string): Promise<void> {
    if (this.#state === "established") this.#release({ type: "released" }, reason);
    else if (this.#state === "calling") {
      this.#move("hangUp");
      this.#startReleaseTimer();
      if (!this.#request.cancel(reason)) this.#finish(this.#end);
    }
    return this.#endPromise;
  }

  sendDigit(digit: string, durationMs: number): Promise<void> {
    const usage = this.#state === "established" ? this.#confirmedUsage : undefined;
    if (usage === undefined)
      return Promise.reject(new Error("no key can be sent: the call has not been answered, or it has ended"));
    return sendDigitByInfo(usage.requests, digit, durationMs);
  }

  async probe(): Promise<string | undefined> {
    const usage = this.#state === "established" ? this.#confirmedUsage : undefined;
    return usage && (await probeDialog(usage.requests, this.#context.options.system, this.#call.maySend));
  }

  refer(uri: string): Promise<TransferOutcome> {
    const usage = this.#state === "established" ? this.#confirmedUsage : undefined;
    if (usage === undefined) return Promise.reject(new Error("the call has not been answered, or it has ended"));
    return usage.refer(uri);
  }

  /** True if a request with our Call-ID belongs to one of our dialogs. */
  owns({ headers }: SipRequest): boolean {
    return tagOf(headers.get("To")) === this.#fromTag && this.#forks.get(tagOf(headers.get("From"))) !== undefined;
  }

  /** Handles a request with our Call-ID; returns false if it belongs to none of our dialogs. */
  receive(transaction: IncomingRequest): boolean {
    const { headers } = transaction.request;
    const usage = this.#forks.get(tagOf(headers.get("From")));
    if (usage === undefined || tagOf(headers.get("To")) !== this.#fromTag) return false;
    this.#context.trace(this.#call.callId, "received", transaction.request);
    usage.receive(transaction);
    return true;
  }

  /** Handles a 2xx that arrived after the end of its transaction: a retransmission, or another fork. */
  lateSuccess(response: SipResponse, flow: Flow): void {
    this.#context.trace(this.#call.callId, "received", response);
    const usage = this.#forks.get(tagOf(response.headers.get("To")));
    if (usage !== undefined && usage === this.#confirmedUsage) usage.requests.acknowledgeAgain(response);
    else this.#decline(response, flow);
  }

  /** Handles a missing ACK for our 2xx to a re-INVITE. */
  ackMissing(transaction: IncomingRequest): void {
    const usage = this.#forks.get(tagOf(transaction.request.headers.get("From")));
    const detail = "the peer did not acknowledge our response to its re-INVITE";
    if (usage !== undefined) this.dialogFailed(usage, { type: "protocol", detail });
  }

  /** @internal the peer has sent BYE */
  peerLeft(usage: DialogUsage, reason: string | undefined): void {
    if (this.#confirmedUsage === undefined) {
      // One fork has given up, or its 2xx was lost and it stopped waiting for our ACK (RFC 3261 section 15).
      this.#forks.drop(usage);
      if (this.#forks.size > 0) return;
      this.#request.cancel();
    }
    this.#finish(this.#state === "cancelling" || this.#state === "releasing" ? this.#end : { type: "bye", reason });
  }

  /** @internal the dialog cannot continue */
  dialogFailed(usage: DialogUsage, end: InviteEnd): void {
    if (this.#state === "established" && usage === this.#confirmedUsage) this.#release(end);
  }

  get #neverRang(): boolean {
    return !this.#alerting.hasProgressed && !this.#request.isUnanswered;
  }

  #onSent(flow: Flow): void {
    if (this.#state !== "ended") this.#flowHold.keep(flow);
    if (this.#isPlaced || this.#state !== "calling") return;
    this.#isPlaced = true;
    this.#call.listener.placed();
  }

  #onProvisional(response: SipResponse, flow: Flow): void {
    if (this.#state !== "calling") return;
    this.#call.respondedFrom?.(flow.remote.address);
    this.#alerting.progress(response);
    if (response.status === 100) return;
    const usage = this.#forks.findOrCreate(response, () => this.#createUsage(response, flow));
    // 199: this fork has failed (RFC 6228).
    if (response.status === 199) this.#forks.drop(usage);
    else if (usage?.takeProvisional(response) !== "ignored") this.#alerting.takeEarly(response);
  }

  #onAnswer(response: SipResponse, flow: Flow): void {
    // Too late: the call has ended on our side, but not for the callee.
    const usage =
      this.#state === "ended" ? undefined : this.#forks.findOrCreate(response, () => this.#createUsage(response, flow));
    if (usage === undefined) {
      this.#decline(response, flow);
      return;
    }
    this.#call.respondedFrom?.(flow.remote.address);
    usage.establish(response, flow, this.#request.authorization);
    this.#flowHold.keep(flow);
    this.#confirmedUsage = usage;
    this.#forks.keepOnly(usage);
    if (this.#state === "cancelling") {
      this.#move("answer");
      this.#sendBye();
      return;
    }
    const fault = this.#mediaFault(usage);
    if (fault !== undefined) {
      this.#end = { type: "media", detail: fault, isUnacceptable: true };
      this.#move("unacceptable");
      this.#sendBye();
      return;
    }
    this.#move("answer");
    this.#call.listener.answered();
    usage.confirm(response);
  }

  /** Reason why the peer's session description is unacceptable. */
  #mediaFault({ sdp, isFromUpdate }: DialogUsage): string | undefined {
    if (sdp === undefined) return "the peer answered without SDP";
    if (!isFromUpdate) return this.#call.negotiator.takeAnswer(sdp, false);
    this.#call.negotiator.confirm();
    return undefined;
  }

  #onRefusal(response: SipResponse): void {
    this.#forks.keepOnly(undefined);
    const { refusal } = this.#request;
    const { hasRung, hasProgressed } = this.#alerting;
    const end: InviteEnd = {
      type: "rejected",
      response,
      hasRung,
      hasProgressed,
      refusal,
      neverRang: this.#neverRang,
    };
    this.#finish(this.#state === "calling" ? end : this.#end);
  }

  #release(end: InviteEnd, reason?: string): void {
    this.#end = end;
    this.#move("hangUp");
    this.#sendBye(reason);
  }

  #sendBye(reason?: string): void {
    this.#startReleaseTimer();
    this.#confirmedUsage?.terminate(reason, () => this.#finish(this.#end));
  }

  /** Starts the timer for the release, unless it is running. */
  #startReleaseTimer(): void {
    if (this.#hasReleaseTimer) return;
    this.#hasReleaseTimer = true;
    this.#stopTimer();
    this.#stopTimer = this.#context.options.system.after(RELEASE_TIMEOUT_MS, () => this.#finish(this.#end));
  }

  #finish(end: InviteEnd): void {
    if (this.#state === "ended") return;
    this.#move("end");
    this.#stopTimer();
    this.#flowHold.release();
    this.#forks.keepOnly(undefined);
    this.#beforeEnd(this);
    this.#call.listener.ended(end);
    this.#resolveEnd();
  }

  #move(input: InviteInput): void {
    const next = nextState(INVITE_TRANSITIONS, this.#state, input);
    if (next === undefined) throw new Error(`no transition "${input}" from "${this.#state}"`);
    this.#state = next;
  }

  #createUsage(response: SipResponse, flow: Flow): DialogUsage {
    const { uri } = this.#attempts;
    const inviteHop = this.#context.options.nextHop(uri);
    return new DialogUsage(this.#context, this.#call, this, { uri, inviteHop, response, flow });
  }

  #decline(response: SipResponse, flow: Flow): void {
    const { uri } = this.#attempts;
    const { authorization } = this.#request;
    declineAnswer(this.#context, response, flow, { uri, authorization, callId: this.#call.callId });
  }
}
