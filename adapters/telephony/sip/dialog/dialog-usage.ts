import type { SipMessage, SipResponse } from "../message/message.ts";
import type { IncomingRequest } from "../transaction/transactions.ts";
import type { Flow } from "../transport/transport.ts";
import type { HeaderField } from "./agent.ts";
import type { AgentContext } from "./agent-context.ts";
import { ACCEPT, CAPABILITIES } from "./capabilities.ts";
import { Dialog } from "./dialog.ts";
import { DialogRequests } from "./dialog-requests.ts";
import { digitOf } from "./dtmf-relay.ts";
import { HoldWatch } from "./hold-watch.ts";
import type { InviteEnd, InviteRequest } from "./invite.ts";
import type { OurStatus } from "./reason-phrase.ts";
import { refusalWithin } from "./refusals.ts";
import { ReliableProvisionals } from "./reliable-provisionals.ts";
import { Renegotiation } from "./renegotiation.ts";
import { holds, isSameMedia, sdpOf } from "./session-description.ts";
import { SessionRefresh } from "./session-refresh.ts";
import { type SessionTerms, termsOfAnswer } from "./session-terms.ts";
import { SessionTimer } from "./session-timer.ts";

/** How long a far side may hold us, ms, unless the trunk says otherwise. */
const HOLD_TIMEOUT_MS = 60_000;

/** What a dialog tells the call that it belongs to. */
export interface DialogUsageListener {
  /** The far side has sent BYE; it has been answered. */
  left(usage: DialogUsage, reason: string | undefined): void;
  /** The call cannot go on in this dialog: BYE is to be sent. */
  broken(usage: DialogUsage, end: InviteEnd): void;
}

/** The INVITE that a dialog comes of, and the response that it begins with. */
export interface DialogBirth {
  /** The Request-URI of the INVITE. */
  readonly uri: string;
  /** What it was sent to. */
  readonly first: string;
  readonly response: SipResponse;
  readonly flow: Flow;
}

/** One dialog of a call, early or confirmed: what comes in it, what is sent in it, and its timers. */
export class DialogUsage {
  readonly dialog: Dialog;
  readonly call: InviteRequest;
  readonly requests: DialogRequests;
  readonly renegotiation: Renegotiation;
  readonly timer: SessionTimer;
  readonly #context: AgentContext;
  readonly #listener: DialogUsageListener;
  readonly #hold: HoldWatch;
  readonly #provisionals = new ReliableProvisionals();
  #sdp: string | undefined;
  /** The answer to our first offer in an 18x. */
  #answer: string | undefined;
  #updated = false;
  #methods: readonly string[] = [];
  #confirmed = false;
  #closed = false;

  constructor(
    context: AgentContext,
    call: InviteRequest,
    listener: DialogUsageListener,
    { uri, first, response, flow }: DialogBirth,
  ) {
    this.#context = context;
    this.call = call;
    this.#listener = listener;
    this.dialog = new Dialog(uri, response);
    this.requests = new DialogRequests(context, this.dialog, call.callId, first, flow);
    this.#learn(response);
    const { system, holdTimeoutMs = HOLD_TIMEOUT_MS } = context.options;
    const refresh = new SessionRefresh(context, this);
    this.timer = new SessionTimer(
      system,
      (terms) => refresh.start(terms),
      () => this.failed("the session timer ran out: the far side gave no more sign of life"),
    );
    this.#hold = new HoldWatch(
      system,
      holdTimeoutMs,
      (held) => call.listener.held(held),
      () => this.failed(`the far side held the call for more than ${holdTimeoutMs / 1000} s`),
    );
    this.renegotiation = new Renegotiation(context, this.dialog, call, {
      described: (sdp) => this.described(sdp),
      refreshed: (terms) => this.#refreshed(terms),
      failed: (detail) => this.failed(detail),
    });
  }

  /**
   * The far side's SDP: of its 2xx, or of what came before where the 2xx has none or repeats it. A 2xx must not differ
   * from the answer of a reliable 18x (RFC 6337 section 2.1); where it does, it is where the callee is.
   */
  get sdp(): string | undefined {
    return this.#sdp;
  }

  /** Whether the SDP is that of an UPDATE before the 2xx, and no answer to an offer of ours. */
  get updated(): boolean {
    return this.#updated;
  }

  /**
   * A provisional response has come: acknowledged by PRACK where it is reliable (RFC 3262). `ignored`: a copy, or one
   * that has overtaken another.
   */
  progressed(response: SipResponse): "heard" | "ignored" {
    const reliable = this.#provisionals.receive(response);
    if (reliable.type === "ignored") return "ignored";
    const sdp = sdpOf(response);
    if (sdp !== undefined && this.renegotiation.offering) {
      this.#sdp = sdp;
      this.#answer = sdp;
      this.renegotiation.offering = reliable.type === "unreliable";
    }
    if (reliable.type === "next")
      this.requests.send("PRACK", { headers: [["RAck", reliable.rack]] }, { final() {}, failed() {} });
    return "heard";
  }

  /** A 2xx has come: it settles the routes, the target and the way, and has its ACK. */
  established(response: SipResponse, flow: Flow, authorization: readonly HeaderField[]): void {
    const sdp = sdpOf(response);
    const repeated = !this.renegotiation.offering && [this.#sdp, this.#answer].some((known) => isSameMedia(known, sdp));
    if (sdp !== undefined && !repeated) {
      this.#sdp = sdp;
      this.#updated = false;
    }
    this.renegotiation.offering = false;
    this.dialog.established(response);
    this.#learn(response);
    this.requests.heard(flow);
    this.requests.acknowledge(response, authorization);
  }

  /** The call goes on in this dialog. */
  confirm(response: SipResponse): void {
    if (this.#closed) return;
    this.#confirmed = true;
    if (this.#timers) this.timer.agree(termsOfAnswer(response.headers));
    if (this.#sdp !== undefined) this.#hold.set(holds(this.#sdp));
  }

  /** The far side has described its audio anew. */
  described(sdp: string): void {
    this.#sdp = sdp;
    if (this.#confirmed) this.#hold.set(holds(sdp));
    else this.#updated = true;
  }

  /** The call has no media any more, or nobody at its other end. */
  failed(detail: string): void {
    this.#listener.broken(this, { type: "media", detail });
  }

  /** Whether the far side has said that it understands this method. */
  allows(method: string): boolean {
    return this.#methods.includes(method);
  }

  /** A request of the far side in this dialog. */
  receive(transaction: IncomingRequest): void {
    const { request } = transaction;
    if (request.method === "ACK") {
      if (!this.#closed) this.renegotiation.acknowledged(request);
    } else if (!this.dialog.inOrder(request)) this.#reply(transaction, 500);
    else {
      this.#learn(request);
      this.#take(transaction);
    }
  }

  /** Sends BYE: nothing else is of interest any more. */
  leave(reason: string | undefined, gone: () => void): void {
    this.close();
    const headers: HeaderField[] = reason === undefined ? [] : [["Reason", reason]];
    this.requests.leave(headers, gone);
  }

  /** Timers stop; nobody waits for what is still under way. */
  close(): void {
    this.#closed = true;
    this.timer.stop();
    this.#hold.stop();
    this.requests.abandon();
  }

  get #timers(): boolean {
    return this.#context.options.sessionTimers !== false;
  }

  #take(transaction: IncomingRequest): void {
    const { method, headers } = transaction.request;
    if (this.#closed && method !== "BYE") this.#reply(transaction, 481);
    else if (method === "INVITE" || method === "UPDATE") this.renegotiation.answer(transaction, !this.#confirmed);
    else if (method === "INFO") this.#pressed(transaction);
    else if (method === "OPTIONS") this.#reply(transaction, 200, CAPABILITIES);
    else if (method === "BYE") {
      this.#reply(transaction, 200);
      this.#listener.left(this, headers.get("Reason"));
    } else {
      const refusal = refusalWithin(method);
      this.#reply(transaction, refusal.status, refusal.headers);
    }
  }

  #pressed(transaction: IncomingRequest): void {
    const digit = digitOf(transaction.request);
    if (digit === undefined && transaction.request.body.length > 0) {
      this.#reply(transaction, 415, [ACCEPT]);
      return;
    }
    this.#reply(transaction, 200);
    if (digit !== undefined && digit !== "none") this.call.listener.digit(digit);
  }

  /** A refresh of the far side's that says nothing of a timer ends its own, not ours. */
  #refreshed(terms: SessionTerms | undefined): void {
    if (!this.#confirmed || !this.#timers) return;
    this.timer.agree(terms ?? (this.timer.terms?.ours === true ? this.timer.terms : undefined));
  }

  #learn({ headers }: SipMessage): void {
    const methods = headers.list("Allow");
    if (methods.length > 0) this.#methods = methods.map((method) => method.toUpperCase());
  }

  #reply(transaction: IncomingRequest, status: OurStatus, headers: readonly HeaderField[] = []): void {
    this.#context.reply(transaction, status, { headers, callId: this.call.callId });
  }
}
