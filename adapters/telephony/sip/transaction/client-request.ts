import type { SipRequest, SipResponse } from "../message/message.ts";
import { asTransportError } from "../transport/network-fault.ts";
import { type Flow, type Hop, TransportError } from "../transport/transport.ts";
import { newBranch, viaOf } from "./branch.ts";
import type { ClientScope } from "./client-scope.ts";
import type { ClientTransaction, Patience, TransactionOwner } from "./client-transaction.ts";
import { cancelOf } from "./hop-requests.ts";
import { isLong } from "./tcp-instead.ts";
import { giveUpMs } from "./timers.ts";
import type { ClientListener, OutgoingRequest } from "./transactions.ts";

const SILENT: ClientListener = { final() {}, failed() {} };
const NO_OWNER: TransactionOwner = { provisional() {}, final() {}, failed() {}, late() {}, cancel() {} };

/** The hop of an attempt, and the hops to try if it fails. */
interface AttemptHops {
  readonly hop: Hop | undefined;
  /** UDP, if the attempt takes TCP in its place. */
  readonly otherwise: Hop | undefined;
  /** The same hop on another connection. */
  readonly again: Hop | undefined;
}

/**
 * One request, sent to each hop of its target in turn until one gives a response other than 503 (RFC 3263 section 4.3).
 * Every attempt is a client transaction of its own.
 */
export class ClientRequest implements OutgoingRequest {
  readonly #scope: ClientScope;
  readonly #given: SipRequest;
  readonly #abort = new AbortController();
  #listener: ClientListener;
  #hops: Hop[] = [];
  /** The attempt under way. */
  #transaction: ClientTransaction | undefined;
  #latest: SipRequest;
  /** A 503, reported if no other hop gives another response. */
  #refusal: { readonly response: SipResponse; readonly flow: Flow } | undefined;
  /** A dead connection: the request was sent again on another one. */
  #dead: Flow | undefined;
  #cancelled = false;
  #reason: string | undefined;
  #done = false;
  #unanswered = false;

  constructor(scope: ClientScope, request: SipRequest, listener: ClientListener) {
    this.#scope = scope;
    this.#given = request;
    this.#latest = request;
    this.#listener = listener;
  }

  get #callId(): string {
    return this.#given.headers.get("Call-ID") ?? "";
  }

  get request(): SipRequest {
    return this.#latest;
  }

  get unanswered(): boolean {
    return this.#unanswered;
  }

  async send(to: string | Flow): Promise<void> {
    await undefined; // the listener is not called before `request` has returned
    try {
      if (typeof to !== "string") return await this.#attempt(to, undefined);
      const hops = await this.#scope.resolve(to, this.#abort.signal);
      this.#hops = this.#scope.failedHops.inOrder(this.#scope.chosenHops.first(this.#callId, hops));
      await this.#next(new TransportError("dns", `${to} resolves to no address`));
    } catch (cause) {
      this.#fail(asTransportError(cause));
    }
  }

  cancel(reason?: string): void {
    if (this.#cancelled || this.#done || this.#given.method !== "INVITE") return;
    this.#cancelled = true;
    this.#reason = reason;
    this.#transaction?.cancel();
    if (this.#transaction !== undefined) return;
    this.#abort.abort();
    queueMicrotask(() => this.#fail(new TransportError("closed", "the request was cancelled before it was sent")));
  }

  abandon(): void {
    this.#listener = SILENT;
  }

  /** Fails the request because the layer closes. */
  close(fault: TransportError): void {
    this.#abort.abort();
    this.#fail(fault);
  }

  /** Tries the remaining hops; without any the request has failed with the latest fault. */
  async #next(why: TransportError): Promise<void> {
    let fault = why;
    for (let hop = this.#hops.shift(); hop !== undefined && !this.#done; hop = this.#hops.shift()) {
      let flow: Flow;
      try {
        flow = await this.#scope.transports.connect(hop, this.#abort.signal, this.#dead);
      } catch (cause) {
        fault = asTransportError(cause);
        if (!this.#abort.signal.aborted) this.#scope.failedHops.add(hop);
        continue;
      }
      return this.#attempt(flow, hop);
    }
    this.#fail(fault);
  }

  /**
   * @param otherwise the hop for UDP if a connection in place of it breaks or stays silent; the request stays the same, so
   * a server that was only slow sees a merged request and responds with 482 (RFC 3261 section 8.2.2.2)
   */
  async #attempt(flow: Flow, hop: Hop | undefined, otherwise?: Hop): Promise<void> {
    if (this.#done) return;
    const request = this.#prepared(flow);
    if (hop?.kind === "udp" && hop.fixed !== true && isLong(request)) {
      const connection = await this.#scope.tcpInstead.flow(hop, this.#abort.signal);
      if (connection !== undefined) {
        return this.#attempt(connection, { ...hop, kind: "tcp" }, { ...hop, fixed: true });
      }
      if (this.#done) return;
    }
    this.#latest = request;
    const { timers } = this.#scope;
    const others = this.#hops.length > 0 || otherwise !== undefined;
    const again = this.#again(flow, hop, otherwise);
    const patience: Patience = {
      giveUpMs: others ? Math.min(timers.nextHopMs, giveUpMs(timers)) : giveUpMs(timers),
      silenceMs: others || again === undefined ? undefined : timers.nextHopMs, // other hops are tried first
    };
    const transaction = this.#scope.open(
      request,
      flow,
      patience,
      this.#ownerOf(request, flow, { hop, otherwise, again }),
    );
    this.#transaction = transaction;
    transaction.start();
    if (this.#transaction === transaction) this.#listener.sent?.(request, flow);
  }

  /** A copy of the request for this flow. */
  #prepared(flow: Flow): SipRequest {
    const sentBy = this.#scope.transports.sentBy(flow);
    const request = { ...this.#given, headers: this.#given.headers.clone() };
    this.#listener.prepare?.(request, flow, sentBy);
    request.headers.addFirst("Via", viaOf(flow.kind, sentBy, newBranch(this.#scope.system)));
    return request;
  }

  /**
   * The hop that an INVITE is sent to once more if its connection, which has worked before, breaks or seems dead before
   * any response. It is the same request with another branch (RFC 3261 section 8.1.3.1, RFC 3263 section 4.3), so a
   * server that has received it already responds with 482 (RFC 3261 section 8.2.2.2).
   */
  #again(flow: Flow, hop: Hop | undefined, otherwise: Hop | undefined): Hop | undefined {
    const first = this.#dead === undefined && otherwise === undefined;
    return first && flow.spoken === true && this.#given.method === "INVITE" ? hop : undefined;
  }

  #ownerOf(request: SipRequest, flow: Flow, { hop, otherwise, again }: AttemptHops): TransactionOwner {
    let responded = false;
    let progressed = false;
    return {
      maySend: this.#listener.maySend,
      provisional: (response) => {
        responded = true;
        progressed ||= response.status > 100;
        this.#listener.provisional?.(response, flow);
      },
      final: (response) => {
        this.#transaction = undefined;
        if (response.status === 503 && hop !== undefined) {
          this.#scope.failedHops.add(hop);
          this.#refusal = { response, flow };
          if (this.#mayGoOn(progressed)) return this.#goOn(new TransportError("refused", `${hop.host} answered 503`));
        } else if (hop !== undefined) this.#scope.failedHops.works(hop);
        if (hop !== undefined) this.#scope.chosenHops.remember(this.#callId, hop);
        this.#final(response, flow);
      },
      failed: (fault) => {
        if (this.#transaction?.undelivered !== true) this.#unanswered = true;
        this.#transaction = undefined;
        if (again !== undefined && !responded && (!flow.alive || fault.fault === "closed")) {
          this.#dead = flow;
          this.#hops.unshift(again);
        } else if (hop !== undefined) this.#scope.failedHops.add(hop, flow);
        if (otherwise !== undefined) {
          this.#hops.unshift(otherwise);
          if (fault.fault === "timeout") this.#scope.tcpInstead.mute(otherwise);
        }
        if (this.#mayGoOn(responded)) this.#goOn(fault);
        else this.#fail(fault);
      },
      late: (response) => this.#scope.late(response, flow),
      cancel: (elsewhere) => void this.#sendCancel(cancelOf(request, this.#reason), elsewhere ? hop : flow),
    };
  }

  /** @param taken the hop may have placed the call: an INVITE to another one could make a second phone ring */
  #mayGoOn(taken: boolean): boolean {
    if (taken && this.#given.method === "INVITE") return false;
    return this.#hops.length > 0 && !this.#cancelled && !this.#done;
  }

  #goOn(fault: TransportError): void {
    this.#next(fault).catch((cause) => this.#fail(asTransportError(cause)));
  }

  /** Sends a CANCEL in a transaction of its own, with the branch of its INVITE; its result is ignored. */
  async #sendCancel(cancel: SipRequest, on: Flow | Hop | undefined): Promise<void> {
    if (on === undefined) return;
    const { transports, timers } = this.#scope;
    try {
      const flow = "send" in on ? on : await transports.connect(on, this.#abort.signal);
      this.#scope.open(cancel, flow, { giveUpMs: giveUpMs(timers) }, NO_OWNER).start();
    } catch {
      // the INVITE's own transaction reports the fault
    }
  }

  #final(response: SipResponse, flow: Flow): void {
    if (this.#done) return;
    this.#done = true;
    this.#scope.done(this);
    const abandoned = this.#listener === SILENT && this.#given.method === "INVITE" && response.status < 300;
    if (abandoned) this.#scope.late(response, flow);
    else this.#listener.final(response, flow);
  }

  #fail(fault: TransportError): void {
    if (this.#done) return;
    const refusal = this.#refusal;
    if (refusal !== undefined && !this.#cancelled) {
      this.#final(refusal.response, refusal.flow);
      return;
    }
    this.#done = true;
    this.#scope.done(this);
    this.#listener.failed(fault);
  }
}
