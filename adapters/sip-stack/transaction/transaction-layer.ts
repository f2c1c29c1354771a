import { parseCSeq, parseVia, type Via } from "../message/header-values.ts";
import type { SipRequest, SipResponse } from "../message/sip-message.ts";
import type { System } from "../ports.ts";
import type { Resolve } from "../transport/dns.ts";
import { FailedHops } from "../transport/failed-hops.ts";
import { type Flow, type Hop, TransportError, type Transports } from "../transport/transport.ts";
import { clientKey, newBranch, viaOf } from "./branch.ts";
import { ClientRequest } from "./client-request.ts";
import { ClientTransaction, type TransactionOwner, type TransactionTimeouts } from "./client-transaction.ts";
import { ChosenHops, probeHop, TcpUpgrade } from "./hop-sequence.ts";
import { reply, ServerSide } from "./server-side.ts";
import { type SipTimers, sipTimers } from "./transaction-machine.ts";
import type { ClientTransactionListener, OutgoingRequest, TransactionListener, Transactions } from "./transactions.ts";

/** Options of {@link createTransactions}. */
export interface TransactionOptions {
  readonly system: System;
  /** Timers that replace the RFC's, for tests. */
  readonly timers?: Partial<SipTimers> | undefined;
  /** True if a failed hop is probed with OPTIONS. Default: true. */
  readonly probesFailedHops?: boolean | undefined;
}

/** Shared by all of a trunk's client transactions (RFC 3261 section 17.1). */
export interface ClientScope {
  readonly system: System;
  readonly timers: SipTimers;
  readonly transports: Transports;
  readonly resolve: Resolve;
  readonly failedHops: FailedHops;
  readonly chosenHops: ChosenHops;
  readonly tcpUpgrade: TcpUpgrade;
  /** A registered client transaction that has not been started yet. */
  open(request: SipRequest, flow: Flow, timeouts: TransactionTimeouts, owner: TransactionOwner): ClientTransaction;
  lateSuccess(response: SipResponse, flow: Flow): void;
  /** Called when the request has received its final response, or has failed. */
  onDone(request: ClientRequest): void;
}

/** Methods that only the trunk's own server receives; a call's requests may go to another server. */
const TRUNK_METHODS: ReadonlySet<string> = new Set(["OPTIONS", "REGISTER"]);

const NO_LISTENER: TransactionListener = { request() {}, lateSuccess() {} };

/** The transaction layer (RFC 3261 section 17) of one trunk; takes over the listener of its transports and closes them. */
export function createTransactions(
  transports: Transports,
  resolve: Resolve,
  options: TransactionOptions,
): Transactions {
  return new TransactionLayer(transports, resolve, options);
}

/**
 * Matches our requests with their responses (RFC 3261 section 17.1); {@link ServerSide} handles requests from peers.
 */
class TransactionLayer implements Transactions, ClientScope {
  readonly system: System;
  readonly timers: SipTimers;
  readonly transports: Transports;
  readonly failedHops: FailedHops;
  readonly chosenHops: ChosenHops = new ChosenHops();
  readonly tcpUpgrade: TcpUpgrade;
  readonly #resolve: Resolve;
  readonly #server: ServerSide;
  readonly #transactions = new Map<string, ClientTransaction>();
  readonly #requests = new Set<ClientRequest>();
  readonly #closeController = new AbortController();
  #listener = NO_LISTENER;
  #closePromise: Promise<void> | undefined;

  constructor(
    transports: Transports,
    resolve: Resolve,
    { system, timers, probesFailedHops = true }: TransactionOptions,
  ) {
    this.system = system;
    this.timers = sipTimers(timers);
    this.transports = transports;
    this.#resolve = resolve;
    const { signal } = this.#closeController;
    const probe = {
      system,
      transports,
      timers: this.timers,
      requiresResponse: probesFailedHops,
      open: this.open.bind(this),
      signal,
    };
    this.failedHops = new FailedHops(system, (hop, dead) => probeHop(hop, dead, probe));
    this.tcpUpgrade = new TcpUpgrade(transports, system);
    this.#server = new ServerSide({
      system,
      timers: this.timers,
      reply: (response, flow) => void reply(transports, response, flow, signal),
      listener: () => this.#listener,
    });
    transports.listen({
      message: (message, flow) => {
        if (this.#closePromise !== undefined) return;
        if (message.kind === "response") this.#onResponse(message);
        else this.#server.request(message, flow);
      },
      closed: (flow, fault) => this.#onFlowClosed(flow, fault),
      hasCall: (callId) => this.#listener.hasCall?.(callId) === true,
      isOurs: (request) => this.#listener.isOurs?.(request) === true,
    });
  }

  listen(listener: TransactionListener): void {
    this.#listener = listener;
  }

  sentBy(flow: Flow): string {
    return this.transports.sentBy(flow);
  }

  async resolve(uri: string, signal: AbortSignal): Promise<readonly Hop[]> {
    const hops = await this.#resolve(uri, signal);
    this.transports.expect?.(hops);
    return hops;
  }

  lateSuccess(response: SipResponse, flow: Flow): void {
    this.#listener.lateSuccess(response, flow);
  }

  request(request: SipRequest, to: string | Flow, listener: ClientTransactionListener): OutgoingRequest {
    const clientRequest = new ClientRequest(this, request, listener);
    this.#requests.add(clientRequest);
    void clientRequest.send(to);
    return clientRequest;
  }

  ack(request: SipRequest, to: string | Flow): void {
    void this.#ack(request, to);
  }

  /** Sends the ACK for a 2xx on the first hop that can be reached. */
  async #ack(request: SipRequest, to: string | Flow): Promise<void> {
    try {
      const flow = typeof to === "string" ? await this.flowTo(to, this.#closeController.signal) : to;
      const ack = { ...request, headers: request.headers.clone() };
      ack.headers.addFirst("Via", viaOf(flow.kind, this.transports.sentBy(flow), newBranch(this.system)));
      flow.send(ack);
    } catch {
      // the peer retransmits its 2xx, and gets another ACK
    }
  }

  /** Passes a response to its transaction; a response without one is ignored. */
  #onResponse(response: SipResponse): void {
    const via = parseVia(response.headers.list("Via")[0] ?? "");
    const method = parseCSeq(response.headers.get("CSeq"))?.method ?? "";
    const transaction = this.#transactions.get(clientKey(via, method));
    if (via === undefined || transaction === undefined) return;
    this.#learnAddress(via, transaction);
    transaction.response(response);
  }

  #onFlowClosed(flow: Flow, fault: TransportError): void {
    for (const transaction of [...this.#transactions.values()])
      if (transaction.flow === flow) transaction.onLost(fault);
  }

  open(request: SipRequest, flow: Flow, timeouts: TransactionTimeouts, owner: TransactionOwner): ClientTransaction {
    const key = clientKey(parseVia(request.headers.list("Via")[0] ?? ""), request.method);
    const { system, timers } = this;
    const terminated = (): void => void this.#transactions.delete(key);
    const transaction = new ClientTransaction({ request, flow, system, timers, ...timeouts, owner, terminated });
    this.#transactions.set(key, transaction);
    return transaction;
  }

  onDone(request: ClientRequest): void {
    this.#requests.delete(request);
  }

  async #close(): Promise<void> {
    this.#closeController.abort();
    this.#server.close();
    const fault = new TransportError("closed", "the trunk was closed");
    for (const request of [...this.#requests]) request.close(fault);
    for (const transaction of this.#transactions.values()) transaction.stop();
    this.#transactions.clear();
    await this.transports.close();
  }

  /** The flow that a request to this URI would take. @throws {TransportError} */
  async flowTo(uri: string, signal: AbortSignal): Promise<Flow> {
    let fault: unknown = new TransportError("dns", `${uri} resolves to no address`);
    for (const hop of this.failedHops.inOrder(await this.resolve(uri, signal)))
      try {
        return await this.transports.connect(hop, signal);
      } catch (cause) {
        if (signal.aborted) throw cause;
        this.failedHops.add(hop);
        fault = cause;
      }
    throw fault;
  }

  /**
   * Learns our address as the peer sees it (RFC 3581); the matching branch proves that the response is from the peer.
   */
  #learnAddress({ host, port, params }: Via, { flow, request }: ClientTransaction): void {
    const rport = Number(params.get("rport") ?? "");
    const receivedAddress = params.get("received");
    if (receivedAddress === undefined && !rport) return;
    const address = { address: receivedAddress || host, port: rport || (port ?? flow.local.port) };
    this.transports.learnAddress(flow, address, TRUNK_METHODS.has(request.method));
  }

  close(): Promise<void> {
    this.#closePromise ??= this.#close();
    return this.#closePromise;
  }
}
