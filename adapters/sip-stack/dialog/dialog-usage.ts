import type { SipMessage, SipResponse } from "../message/sip-message.ts";
import type { TransferOutcome } from "../ports.ts";
import type { IncomingRequest } from "../transaction/transactions.ts";
import type { Flow } from "../transport/transport.ts";
import { ReliableProvisionals } from "./alerting.ts";
import { SipDialog } from "./dialog.ts";
import { DialogRequests } from "./dialog-requests.ts";
import { digitOf } from "./dtmf-relay.ts";
import type { InviteEnd, InviteRequest } from "./invite.ts";
import { Referral, Referrals } from "./referral.ts";
import { type ResponseStatus, refusalWithin } from "./refusals.ts";
import { HoldWatch, Renegotiation } from "./renegotiation.ts";
import { isSameMedia, putsOnHold, sdpOf } from "./session-description.ts";
import { SessionRefresh } from "./session-refresh.ts";
import { type SessionTerms, SessionTimer, termsOfAnswer } from "./session-timer.ts";
import type { AgentContext } from "./user-agent-context.ts";
import { ACCEPT, CAPABILITIES, type HeaderField } from "./user-agent-options.ts";

/** Default time a peer may put us on hold, ms. */
const HOLD_TIMEOUT_MS = 60_000;

/** Events of a dialog for its call. */
export interface DialogUsageListener {
  /** The peer has sent BYE, and we have responded. */
  peerLeft(usage: DialogUsage, reason: string | undefined): void;
  /** The call cannot continue in this dialog; the listener sends BYE. */
  dialogFailed(usage: DialogUsage, end: InviteEnd): void;
}

/** The INVITE that creates a dialog, and its first response. */
export interface DialogOrigin {
  /** The Request-URI of the INVITE. */
  readonly uri: string;
  /** The next hop of the INVITE. */
  readonly inviteHop: string;
  readonly response: SipResponse;
  readonly flow: Flow;
}

/** The INVITE usage of one dialog (RFC 5057), early or confirmed: its requests in both directions, and its timers. */
export class DialogUsage {
  readonly dialog: SipDialog;
  readonly call: InviteRequest;
  readonly requests: DialogRequests;
  readonly renegotiation: Renegotiation;
  readonly timer: SessionTimer;
  readonly #context: AgentContext;
  readonly #listener: DialogUsageListener;
  readonly #hold: HoldWatch;
  readonly #referrals = new Referrals();
  readonly #provisionals = new ReliableProvisionals();
  #sdp: string | undefined;
  /** The answer to our first offer in an 18x. */
  #answer: string | undefined;
  #isFromUpdate = false;
  #methods: readonly string[] = [];
  #isConfirmed = false;
  #isClosed = false;

  constructor(
    context: AgentContext,
    call: InviteRequest,
    listener: DialogUsageListener,
    { uri, inviteHop, response, flow }: DialogOrigin,
  ) {
    this.#context = context;
    this.call = call;
    this.#listener = listener;
    this.dialog = new SipDialog(uri, response);
    this.requests = new DialogRequests(context, this.dialog, call.callId, inviteHop, flow);
    this.#learnMethods(response);
    const { system, holdTimeoutMs = HOLD_TIMEOUT_MS } = context.options;
    const refresh = new SessionRefresh(context, this);
    this.timer = new SessionTimer(
      system,
      (terms) => refresh.start(terms),
      () => this.fail("the session timer expired: the peer has not refreshed the session"),
    );
    this.#hold = new HoldWatch(
      system,
      holdTimeoutMs,
      (isHeld) => call.listener.holdChanged(isHeld),
      () => this.fail(`the peer held the call for more than ${holdTimeoutMs / 1000} s`),
    );
    this.renegotiation = new Renegotiation(context, this.dialog, call, {
      described: (sdp) => this.takeDescription(sdp),
      refreshed: (terms) => this.#refreshed(terms),
      failed: (detail) => this.fail(detail),
    });
  }

  /**
   * The peer's SDP: from its 2xx, or from an earlier response if the 2xx has none or repeats it. A 2xx must not differ
   * from the answer in a reliable 18x (RFC 6337 section 2.1); if it does, the 2xx wins, since the callee sent it last.
   */
  get sdp(): string | undefined {
    return this.#sdp;
  }

  /** True if the SDP is from an UPDATE before the 2xx, and does not answer our offer. */
  get isFromUpdate(): boolean {
    return this.#isFromUpdate;
  }

  /**
   * Handles a provisional response, and acknowledges a reliable one by PRACK (RFC 3262). `ignored`: a retransmission,
   * or a response out of order.
   */
  takeProvisional(response: SipResponse): "taken" | "ignored" {
    const reliable = this.#provisionals.receive(response);
    if (reliable.type === "ignored") return "ignored";
    const sdp = sdpOf(response);
    if (sdp !== undefined && this.renegotiation.isOfferPending) {
      this.#sdp = sdp;
      this.#answer = sdp;
      this.renegotiation.isOfferPending = reliable.type === "unreliable";
    }
    if (reliable.type === "next")
      this.requests.send("PRACK", { headers: [["RAck", reliable.rack]] }, { final() {}, failed() {} });
    return "taken";
  }

  /** Handles a 2xx: updates the route set, the remote target and the flow, and sends ACK. */
  establish(response: SipResponse, flow: Flow, authorization: readonly HeaderField[]): void {
    const sdp = sdpOf(response);
    const isRepeated =
      !this.renegotiation.isOfferPending && [this.#sdp, this.#answer].some((previous) => isSameMedia(previous, sdp));
    if (sdp !== undefined && !isRepeated) {
      this.#sdp = sdp;
      this.#isFromUpdate = false;
    }
    this.renegotiation.isOfferPending = false;
    this.dialog.establish(response);
    this.#learnMethods(response);
    this.requests.useFlow(flow);
    this.requests.acknowledge(response, authorization);
  }

  /** Starts the timers, because the call continues in this dialog. */
  confirm(response: SipResponse): void {
    if (this.#isClosed) return;
    this.#isConfirmed = true;
    if (this.#usesTimers) this.timer.restart(termsOfAnswer(response.headers));
    if (this.#sdp !== undefined) this.#hold.set(putsOnHold(this.#sdp));
  }

  /** Handles the peer's new session description. */
  takeDescription(sdp: string): void {
    this.#sdp = sdp;
    if (this.#isConfirmed) this.#hold.set(putsOnHold(sdp));
    else this.#isFromUpdate = true;
  }

  /** Reports that the call has lost its media or its peer. */
  fail(detail: string): void {
    this.#listener.dialogFailed(this, { type: "media", detail });
  }

  /** True if the peer's Allow lists this method. */
  allows(method: string): boolean {
    return this.#methods.includes(method);
  }

  /**
   * Asks the peer to call a URI instead of us (RFC 3515). Rejects if a transfer is already pending, and if the call
   * ends.
   */
  refer(uri: string): Promise<TransferOutcome> {
    if (this.#referrals.isPending) return Promise.reject(new Error("the call is already being transferred"));
    const target = { to: uri, referredBy: this.dialog.localUri };
    const referral = new Referral(this.#context, this.requests, target, this.call.maySend);
    this.#referrals.add(referral);
    return referral.outcome;
  }

  /** Handles a request from the peer in this dialog. */
  receive(transaction: IncomingRequest): void {
    const { request } = transaction;
    if (request.method === "ACK") {
      if (!this.#isClosed) this.renegotiation.takeAck(request);
    } else if (!this.dialog.isInOrder(request)) this.#reply(transaction, 500);
    else {
      this.#learnMethods(request);
      this.#dispatch(transaction);
    }
  }

  /** Closes the dialog and sends BYE. */
  terminate(reason: string | undefined, onEnd: () => void): void {
    this.close();
    const headers: HeaderField[] = reason === undefined ? [] : [["Reason", reason]];
    this.requests.sendBye(headers, onEnd);
  }

  /** Stops the timers, and ignores responses to pending requests. */
  close(): void {
    this.#isClosed = true;
    this.timer.stop();
    this.#hold.stop();
    this.#referrals.stop();
    this.requests.abandon();
  }

  get #usesTimers(): boolean {
    return this.#context.options.sessionTimers !== false;
  }

  #dispatch(transaction: IncomingRequest): void {
    const { method, headers } = transaction.request;
    if (this.#isClosed && method !== "BYE") this.#reply(transaction, 481);
    else if (method === "INVITE" || method === "UPDATE") this.renegotiation.answer(transaction, !this.#isConfirmed);
    else if (method === "INFO") this.#takeInfo(transaction);
    else if (method === "NOTIFY") {
      const { status, headers: fields } = this.#referrals.receiveNotify(transaction.request);
      this.#reply(transaction, status, fields);
    } else if (method === "OPTIONS") this.#reply(transaction, 200, CAPABILITIES);
    else if (method === "BYE") {
      this.#reply(transaction, 200);
      this.#referrals.peerLeft();
      this.#listener.peerLeft(this, headers.get("Reason"));
    } else {
      const refusal = refusalWithin(method);
      this.#reply(transaction, refusal.status, refusal.headers);
    }
  }

  #takeInfo(transaction: IncomingRequest): void {
    const digit = digitOf(transaction.request);
    if (digit === undefined && transaction.request.body.length > 0) {
      this.#reply(transaction, 415, [ACCEPT]);
      return;
    }
    this.#reply(transaction, 200);
    if (digit !== undefined && digit !== "none") this.call.listener.digit(digit);
  }

  /** Applies a refresh by the peer. A refresh without Session-Expires ends the peer's timer, but not ours. */
  #refreshed(terms: SessionTerms | undefined): void {
    if (!this.#isConfirmed || !this.#usesTimers) return;
    this.timer.restart(terms ?? (this.timer.terms?.isRefresher === true ? this.timer.terms : undefined));
  }

  #learnMethods({ headers }: SipMessage): void {
    const methods = headers.list("Allow");
    if (methods.length > 0) this.#methods = methods.map((method) => method.toUpperCase());
  }

  #reply(transaction: IncomingRequest, status: ResponseStatus, headers: readonly HeaderField[] = []): void {
    this.#context.reply(transaction, status, { headers, callId: this.call.callId });
  }
}
