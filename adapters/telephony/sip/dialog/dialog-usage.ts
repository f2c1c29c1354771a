import { parseCSeq } from "../message/cseq.ts";
import type { SipMessage, SipResponse } from "../message/message.ts";
import type { ServerTransaction } from "../transaction/transactions.ts";
import type { Flow } from "../transport/transport.ts";
import type { HeaderField } from "./agent.ts";
import type { AgentContext } from "./agent-context.ts";
import { ACCEPT, CAPABILITIES } from "./capabilities.ts";
import { Dialog, type RequestParts } from "./dialog.ts";
import { digitOf } from "./dtmf-relay.ts";
import { Exchange, type ExchangeListener } from "./exchange.ts";
import { HoldWatch } from "./hold-watch.ts";
import type { InviteEnd, InviteRequest } from "./invite.ts";
import { nextHop } from "./next-hop.ts";
import type { OurStatus } from "./reason-phrase.ts";
import { refusalWithin } from "./refusals.ts";
import { ReliableProvisionals } from "./reliable-provisionals.ts";
import { Renegotiation } from "./renegotiation.ts";
import { holds, sdpOf } from "./session-description.ts";
import { SessionRefresh } from "./session-refresh.ts";
import { type SessionTerms, termsOfAnswer } from "./session-terms.ts";
import { SessionTimer } from "./session-timer.ts";

/** How long a far side may hold us, ms, unless the trunk says otherwise. */
const HOLD_TIMEOUT_MS = 60_000;

/** Most 2xx of one dialog whose ACK we may still have to repeat. */
const MOST_ACKS = 4;

/** What a dialog tells the call that it belongs to. */
export interface DialogUsageListener {
  /** The far side has sent BYE; it has been answered. */
  left(usage: DialogUsage, reason: string | undefined): void;
  /** The call cannot go on in this dialog: BYE is to be sent. */
  broken(usage: DialogUsage, end: InviteEnd): void;
}

/** A request of ours within a dialog. */
export interface DialogRequest extends RequestParts {
  readonly contact?: boolean;
}

/** One dialog of a call, early or confirmed: what is sent in it, what comes in it, and its timers. */
export class DialogUsage {
  readonly dialog: Dialog;
  readonly call: InviteRequest;
  readonly renegotiation: Renegotiation;
  readonly timer: SessionTimer;
  /** The SDP of the latest 18x: it is the answer where the 2xx has none. */
  earlySdp: string | undefined;
  readonly #context: AgentContext;
  readonly #listener: DialogUsageListener;
  readonly #first: string;
  readonly #hold: HoldWatch;
  readonly #refresh: SessionRefresh;
  readonly #underWay = new Set<Exchange>();
  readonly #provisionals = new ReliableProvisionals();
  readonly #acks = new Map<number, readonly HeaderField[]>();
  #flow: Flow;
  #methods: readonly string[] = [];
  #confirmed = false;
  #closed = false;

  /**
   * @param uri the Request-URI of the INVITE
   * @param first what it was sent to
   */
  constructor(
    context: AgentContext,
    call: InviteRequest,
    listener: DialogUsageListener,
    { uri, first, response, flow }: { uri: string; first: string; response: SipResponse; flow: Flow },
  ) {
    this.#context = context;
    this.call = call;
    this.#listener = listener;
    this.#first = first;
    this.#flow = flow;
    this.dialog = new Dialog(uri, response);
    this.#learn(response);
    const { system, holdTimeoutMs = HOLD_TIMEOUT_MS } = context.options;
    this.timer = new SessionTimer(
      system,
      () => this.timer.terms && this.#refresh.start(this.timer.terms),
      () => this.failed("the session timer ran out: the far side gave no more sign of life"),
    );
    this.#refresh = new SessionRefresh(context, this);
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

  /** The flow that the far side was heard on last. */
  get flow(): Flow {
    return this.#flow;
  }

  /**
   * A provisional response has come: acknowledged by PRACK where it is reliable (RFC 3262). `ignored`: a copy, or one that
   * has overtaken another.
   */
  progressed(response: SipResponse): "heard" | "ignored" {
    const reliable = this.#provisionals.receive(response);
    if (reliable.type === "ignored") return "ignored";
    const sdp = sdpOf(response);
    if (reliable.type === "next") {
      this.send("PRACK", { headers: [["RAck", reliable.rack]] }, { final() {}, failed() {} });
      if (sdp !== undefined) this.renegotiation.offering = false;
    }
    this.earlySdp = sdp ?? this.earlySdp;
    return "heard";
  }

  /** A 2xx with a usable answer has come. */
  confirm(response: SipResponse, sdp: string): void {
    if (this.#closed) return;
    this.#confirmed = true;
    this.renegotiation.offering = false;
    if (this.#context.options.sessionTimers !== false) this.timer.agree(termsOfAnswer(response.headers));
    this.described(sdp);
  }

  /** The far side has described its audio. */
  described(sdp: string): void {
    if (this.#confirmed) this.#hold.set(holds(sdp));
  }

  /** The call has no media any more, or nobody at its other end. */
  failed(detail: string): void {
    this.#listener.broken(this, { type: "media", detail });
  }

  /** Whether the far side has said that it understands this method. */
  allows(method: string): boolean {
    return this.#methods.includes(method);
  }

  /** Sends a request in this dialog, with authentication where it is asked for. */
  send(method: string, { contact, ...parts }: DialogRequest, listener: ExchangeListener): Exchange {
    const exchange: Exchange = new Exchange(
      this.#context,
      () => {
        const headers = [...(parts.headers ?? []), this.#product];
        const { request, next } = this.dialog.request(method, { ...parts, headers });
        return { request, ...nextHop(next, this.#flow, this.#first), ...(contact === undefined ? {} : { contact }) };
      },
      {
        ...listener,
        final: (response, flow) => {
          this.#underWay.delete(exchange);
          this.#heard(response, flow);
          listener.final(response, flow);
        },
        failed: (fault) => {
          this.#underWay.delete(exchange);
          listener.failed(fault);
        },
      },
      this.call.callId,
    );
    this.#underWay.add(exchange);
    return exchange;
  }

  /**
   * Acknowledges a 2xx to an INVITE of this dialog.
   * @param authorization the answers to challenges that the INVITE had: the ACK has the same (RFC 3261 section 22.1)
   */
  acknowledge(response: SipResponse, authorization: readonly HeaderField[]): void {
    const cseq = parseCSeq(response.headers.get("CSeq"))?.number;
    if (cseq === undefined) return;
    this.#acks.set(cseq, authorization);
    for (const old of this.#acks.keys()) if (this.#acks.size > MOST_ACKS) this.#acks.delete(old);
    const { request, next } = this.dialog.ack(cseq, [...authorization, this.#product]);
    this.#context.transactions.ack(request, nextHop(next, this.#flow, this.#first).to);
    this.#context.trace(this.call.callId, "sent", request);
  }

  /** A copy of a 2xx that has had its ACK: the ACK is sent again. */
  repeated(response: SipResponse): void {
    const authorization = this.#acks.get(parseCSeq(response.headers.get("CSeq"))?.number ?? -1);
    if (authorization !== undefined) this.acknowledge(response, authorization);
  }

  /** The response to the INVITE, or to a request in the dialog, has come on this flow. */
  established(response: SipResponse, flow: Flow): void {
    this.dialog.established(response);
    this.#heard(response, flow);
  }

  /** A request of the far side in this dialog. */
  receive(transaction: ServerTransaction): void {
    const { request, flow } = transaction;
    if (request.method === "ACK") {
      if (!this.#closed) this.renegotiation.acknowledged(request);
    } else if (!this.dialog.inOrder(request)) this.#reply(transaction, 500);
    else {
      this.#heard(request, flow);
      this.#take(transaction);
    }
  }

  /** Sends BYE: nothing else is of interest any more. */
  leave(reason: string | undefined, gone: () => void): void {
    this.close();
    const headers: HeaderField[] = reason === undefined ? [] : [["Reason", reason]];
    this.send("BYE", { headers }, { final: gone, failed: gone });
  }

  /** Timers stop; nobody waits for what is still under way. */
  close(): void {
    this.#closed = true;
    this.timer.stop();
    this.#hold.stop();
    for (const exchange of this.#underWay) exchange.abandon();
    this.#underWay.clear();
  }

  get #product(): HeaderField {
    return ["User-Agent", this.#context.options.identity.product];
  }

  #take(transaction: ServerTransaction): void {
    const { method, headers } = transaction.request;
    if (this.#closed && method !== "BYE") this.#reply(transaction, 481);
    else if (method === "INVITE" || method === "UPDATE") this.renegotiation.answer(transaction);
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

  #pressed(transaction: ServerTransaction): void {
    const digit = digitOf(transaction.request);
    const understood = digit !== undefined || transaction.request.body.length === 0;
    if (understood) this.#reply(transaction, 200);
    else this.#reply(transaction, 415, [ACCEPT]);
    if (digit !== undefined && digit !== "none") this.call.listener.digit(digit);
  }

  #refreshed(terms: SessionTerms | undefined): void {
    if (this.#confirmed && this.#context.options.sessionTimers !== false)
      this.timer.agree(terms ?? (this.timer.terms?.ours === true ? this.timer.terms : undefined));
  }

  #heard(message: SipMessage, flow: Flow): void {
    this.#flow = flow;
    this.#learn(message);
  }

  #learn({ headers }: SipMessage): void {
    const methods = headers.list("Allow");
    if (methods.length > 0) this.#methods = methods.map((method) => method.toUpperCase());
  }

  #reply(transaction: ServerTransaction, status: OurStatus, headers: readonly HeaderField[] = []): void {
    this.#context.reply(transaction, status, { headers, callId: this.call.callId });
  }
}
