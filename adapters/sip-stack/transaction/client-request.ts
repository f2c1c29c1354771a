import type { SipRequest, SipResponse } from "../message/sip-message.ts";
import { asTransportError, type Flow, type Hop, TransportError } from "../transport/transport.ts";
import { cancelOf, newBranch, viaOf } from "./branch.ts";
import type { ClientTransaction, TransactionOwner, TransactionTimeouts } from "./client-transaction.ts";
import { type AttemptHops, HopSequence, isLong } from "./hop-sequence.ts";
import type { ClientScope } from "./transaction-layer.ts";
import { giveUpMs } from "./transaction-machine.ts";
import type { ClientTransactionListener, OutgoingRequest } from "./transactions.ts";

const NOOP_LISTENER: ClientTransactionListener = { final() {}, failed() {} };
const NO_OWNER: TransactionOwner = { provisional() {}, final() {}, failed() {}, lateSuccess() {}, cancel() {} };

/**
 * One request, sent to each hop of its target in turn until one gives a response other than 503 (RFC 3263 section 4.3).
 * Every attempt is a separate client transaction.
 */
export class ClientRequest implements OutgoingRequest {
  readonly #scope: ClientScope;
  readonly #template: SipRequest;
  readonly #abort = new AbortController();
  #listener: ClientTransactionListener;
  readonly #hops: HopSequence;
  /** The current attempt. */
  #transaction: ClientTransaction | undefined;
  #latestRequest: SipRequest;
  /** A 503, reported if no other hop gives another response. */
  #refusal: { readonly response: SipResponse; readonly flow: Flow } | undefined;
  #isCancelled = false;
  #reason: string | undefined;
  #isDone = false;
  #isUnanswered = false;

  constructor(scope: ClientScope, request: SipRequest, listener: ClientTransactionListener) {
    this.#scope = scope;
    this.#template = request;
    this.#latestRequest = request;
    this.#listener = listener;
    this.#hops = new HopSequence(scope);
  }

  get #callId(): string {
    return this.#template.headers.get("Call-ID") ?? "";
  }

  get request(): SipRequest {
    return this.#latestRequest;
  }

  get isUnanswered(): boolean {
    return this.#isUnanswered;
  }

  async send(to: string | Flow): Promise<void> {
    await undefined; // the listener is not called before `request` has returned
    try {
      if (typeof to !== "string") return await this.#attempt(to, undefined);
      await this.#hops.resolve(to, this.#callId, this.#abort.signal);
      await this.#next(new TransportError("dns", `${to} resolves to no address`));
    } catch (cause) {
      this.#fail(asTransportError(cause));
    }
  }

  cancel(reason?: string): void {
    if (this.#isCancelled || this.#isDone || this.#template.method !== "INVITE") return;
    this.#isCancelled = true;
    this.#reason = reason;
    this.#transaction?.cancel();
    if (this.#transaction !== undefined) return;
    this.#abort.abort();
    queueMicrotask(() => this.#fail(new TransportError("closed", "the request was cancelled before it was sent")));
  }

  abandon(): void {
    this.#listener = NOOP_LISTENER;
  }

  /** Fails the request because the layer closes. */
  close(fault: TransportError): void {
    this.#abort.abort();
    this.#fail(fault);
  }

  /** Tries the next hop; if there is none, the request fails with the latest fault. @throws {TransportError} */
  async #next(fault: TransportError): Promise<void> {
    const { flow, hop } = await this.#hops.connect(fault, this.#abort.signal);
    await this.#attempt(flow, hop);
  }

  /**
   * Sends the request on `flow`.
   *
   * @param fallback the UDP hop to use if the connection that replaces UDP breaks or stays silent; the request stays
   * the same, so a server that was only slow sees a merged request and responds with 482 (RFC 3261 section 8.2.2.2)
   */
  async #attempt(flow: Flow, hop: Hop | undefined, fallback?: Hop): Promise<void> {
    if (this.#isDone) return;
    const request = this.#prepare(flow);
    if (hop?.kind === "udp" && hop.isTransportFixed !== true && isLong(request)) {
      const connection = await this.#scope.tcpUpgrade.flow(hop, this.#abort.signal);
      if (connection !== undefined) {
        return this.#attempt(connection, { ...hop, kind: "tcp" }, { ...hop, isTransportFixed: true });
      }
      if (this.#isDone) return;
    }
    this.#latestRequest = request;
    const { timers } = this.#scope;
    const hasOtherHops = !this.#hops.isEmpty || fallback !== undefined;
    const retryHop =
      this.#template.method === "INVITE" && fallback === undefined ? this.#hops.hopForRetry(flow, hop) : undefined;
    const timeouts: TransactionTimeouts = {
      giveUpMs: hasOtherHops ? Math.min(timers.nextHopMs, giveUpMs(timers)) : giveUpMs(timers),
      silenceMs: hasOtherHops || retryHop === undefined ? undefined : timers.nextHopMs, // other hops are tried first
    };
    const transaction = this.#scope.open(
      request,
      flow,
      timeouts,
      this.#ownerOf(request, flow, { hop, fallback, retryHop }),
    );
    this.#transaction = transaction;
    transaction.start();
    if (this.#transaction === transaction) this.#listener.sentRequest?.(request, flow);
  }

  /** A copy of the request for this flow. */
  #prepare(flow: Flow): SipRequest {
    const sentBy = this.#scope.transports.sentBy(flow);
    const request = { ...this.#template, headers: this.#template.headers.clone() };
    this.#listener.prepare?.(request, flow, sentBy);
    request.headers.addFirst("Via", viaOf(flow.kind, sentBy, newBranch(this.#scope.system)));
    return request;
  }

  #ownerOf(request: SipRequest, flow: Flow, hops: AttemptHops): TransactionOwner {
    const { hop } = hops;
    let hasResponded = false;
    let hasProgressed = false;
    return {
      maySend: this.#listener.maySend,
      provisional: (response) => {
        hasResponded = true;
        hasProgressed ||= response.status > 100;
        this.#listener.provisional?.(response, flow);
      },
      final: (response) => {
        this.#transaction = undefined;
        if (response.status === 503 && hop !== undefined) {
          this.#scope.failedHops.add(hop);
          this.#refusal = { response, flow };
          if (this.#mayContinue(hasProgressed))
            return this.#continue(new TransportError("refused", `${hop.host} responded with 503`));
        } else if (hop !== undefined) this.#scope.failedHops.recordSuccess(hop);
        if (hop !== undefined) this.#scope.chosenHops.remember(this.#callId, hop);
        this.#handleFinal(response, flow);
      },
      failed: (fault) => {
        if (this.#transaction?.isUndelivered !== true) this.#isUnanswered = true;
        this.#transaction = undefined;
        this.#hops.onFailure(hops, flow, fault, hasResponded);
        if (this.#mayContinue(hasResponded)) this.#continue(fault);
        else this.#fail(fault);
      },
      lateSuccess: (response) => this.#scope.lateSuccess(response, flow),
      cancel: (onNewConnection) => void this.#sendCancel(cancelOf(request, this.#reason), onNewConnection ? hop : flow),
    };
  }

  /**
   * True if another hop may be tried.
   *
   * @param mayHavePlaced true if the hop may have placed the call: an INVITE to another hop could make a second phone
   * ring
   */
  #mayContinue(mayHavePlaced: boolean): boolean {
    if (mayHavePlaced && this.#template.method === "INVITE") return false;
    return !this.#hops.isEmpty && !this.#isCancelled && !this.#isDone;
  }

  #continue(fault: TransportError): void {
    this.#next(fault).catch((cause) => this.#fail(asTransportError(cause)));
  }

  /** Sends a CANCEL in its own transaction, with the branch of its INVITE; its result is ignored. */
  async #sendCancel(cancel: SipRequest, target: Flow | Hop | undefined): Promise<void> {
    if (target === undefined) return;
    const { transports, timers } = this.#scope;
    try {
      const flow = "send" in target ? target : await transports.connect(target, this.#abort.signal);
      this.#scope.open(cancel, flow, { giveUpMs: giveUpMs(timers) }, NO_OWNER).start();
    } catch {
      // the INVITE's own transaction reports the fault
    }
  }

  #handleFinal(response: SipResponse, flow: Flow): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#scope.onDone(this);
    const isAbandoned = this.#listener === NOOP_LISTENER && this.#template.method === "INVITE" && response.status < 300;
    if (isAbandoned) this.#scope.lateSuccess(response, flow);
    else this.#listener.final(response, flow);
  }

  #fail(fault: TransportError): void {
    if (this.#isDone) return;
    const refusal = this.#refusal;
    if (refusal !== undefined && !this.#isCancelled) {
      this.#handleFinal(refusal.response, refusal.flow);
      return;
    }
    this.#isDone = true;
    this.#scope.onDone(this);
    this.#listener.failed(fault);
  }
}
