import { parseCSeq } from "../message/cseq.ts";
import type { SipRequest, SipResponse } from "../message/message.ts";
import { parseVia, type Via } from "../message/via.ts";
import type { System } from "../ports.ts";
import { FailedHops } from "../transport/failed-hops.ts";
import type { Resolve } from "../transport/resolve.ts";
import { type Flow, TransportError, type Transports } from "../transport/transport.ts";
import { newBranch, viaOf } from "./branch.ts";
import { ChosenHops } from "./chosen-hops.ts";
import { ClientRequest } from "./client-request.ts";
import type { ClientScope } from "./client-scope.ts";
import { ClientTransaction, type Patience, type TransactionOwner } from "./client-transaction.ts";
import { probeHop } from "./hop-probe.ts";
import { clientKey } from "./keys.ts";
import { TcpInstead } from "./tcp-instead.ts";
import type { SipTimers } from "./timers.ts";
import type { ClientListener, OutgoingRequest } from "./transactions.ts";

/** Methods that only the trunk's own server receives; requests of a call may go to another server. */
const TRUNK_METHODS: ReadonlySet<string> = new Set(["OPTIONS", "REGISTER"]);

/** Options of {@link ClientSide}. */
export interface ClientSideOptions extends Pick<ClientScope, "system" | "timers" | "transports" | "resolve" | "late"> {
  /** See `TransactionOptions.asksFailedHops`. */
  readonly asksFailedHops: boolean;
}

/** The client transactions of a trunk (RFC 3261 section 17.1): our requests, matched with their responses. */
export class ClientSide implements ClientScope {
  readonly system: System;
  readonly timers: SipTimers;
  readonly transports: Transports;
  readonly resolve: Resolve;
  readonly failedHops: FailedHops;
  readonly chosenHops: ChosenHops = new ChosenHops();
  readonly tcpInstead: TcpInstead;
  readonly late: (response: SipResponse, flow: Flow) => void;
  readonly #transactions = new Map<string, ClientTransaction>();
  readonly #requests = new Set<ClientRequest>();
  readonly #ended = new AbortController();

  constructor(options: ClientSideOptions) {
    this.system = options.system;
    this.timers = options.timers;
    this.transports = options.transports;
    this.resolve = options.resolve;
    this.late = options.late;
    const probe = { ...options, asks: options.asksFailedHops, open: this.open.bind(this), signal: this.#ended.signal };
    this.failedHops = new FailedHops(options.system, (hop, dead) => probeHop(hop, dead, probe));
    this.tcpInstead = new TcpInstead(options.transports, options.system);
  }

  request(request: SipRequest, to: string | Flow, listener: ClientListener): OutgoingRequest {
    const sent = new ClientRequest(this, request, listener);
    this.#requests.add(sent);
    void sent.send(to);
    return sent;
  }

  /** Sends the ACK of a 2xx on the first hop that can be reached. */
  async ack(request: SipRequest, to: string | Flow, signal: AbortSignal): Promise<void> {
    try {
      const flow = typeof to === "string" ? await this.flowTo(to, signal) : to;
      const ack = { ...request, headers: request.headers.clone() };
      ack.headers.addFirst("Via", viaOf(flow.kind, this.transports.sentBy(flow), newBranch(this.system)));
      flow.send(ack);
    } catch {
      // the peer retransmits its 2xx, and gets another ACK
    }
  }

  /** Passes a response to its transaction; a response without one is ignored. */
  response(response: SipResponse): void {
    const via = parseVia(response.headers.list("Via")[0] ?? "");
    const method = parseCSeq(response.headers.get("CSeq"))?.method ?? "";
    const transaction = this.#transactions.get(clientKey(via, method));
    if (via === undefined || transaction === undefined) return;
    this.#learn(via, transaction);
    transaction.response(response);
  }

  closed(flow: Flow, fault: TransportError): void {
    for (const transaction of [...this.#transactions.values()]) if (transaction.flow === flow) transaction.lost(fault);
  }

  open(request: SipRequest, flow: Flow, patience: Patience, owner: TransactionOwner): ClientTransaction {
    const key = clientKey(parseVia(request.headers.list("Via")[0] ?? ""), request.method);
    const { system, timers } = this;
    const terminated = (): void => void this.#transactions.delete(key);
    const transaction = new ClientTransaction({ request, flow, system, timers, ...patience, owner, terminated });
    this.#transactions.set(key, transaction);
    return transaction;
  }

  done(request: ClientRequest): void {
    this.#requests.delete(request);
  }

  close(fault: TransportError): void {
    this.#ended.abort();
    for (const request of [...this.#requests]) request.close(fault);
    for (const transaction of this.#transactions.values()) transaction.stop();
    this.#transactions.clear();
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

  /** Takes our address as the peer sees it (RFC 3581); the matching branch proves that the response is from the peer. */
  #learn({ host, port, params }: Via, { flow, request }: ClientTransaction): void {
    const rport = Number(params.get("rport") ?? "");
    const received = params.get("received");
    if (received === undefined && !rport) return;
    const address = { address: received || host, port: rport || (port ?? flow.local.port) };
    this.transports.seen(flow, address, TRUNK_METHODS.has(request.method));
  }
}
