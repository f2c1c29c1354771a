import { randomText } from "../message/grammar.ts";
import { parseCSeq, parseVia, type Via } from "../message/header-values.ts";
import { SipHeaders } from "../message/headers.ts";
import { type SipRequest, type SipResponse, sipRequest } from "../message/message.ts";
import { writeHostPort } from "../message/uri.ts";
import { BoundedMap, type System } from "../ports.ts";
import type { Resolve } from "../transport/dns.ts";
import { FailedHops } from "../transport/failed-hops.ts";
import { addressAndPort, type Flow, type Hop, TransportError, type Transports } from "../transport/transport.ts";
import { clientKey, newBranch, viaOf } from "./branch.ts";
import { ClientRequest } from "./client-request.ts";
import { ClientTransaction, type Patience, type TransactionOwner } from "./client-transaction.ts";
import { TcpInstead } from "./hop-sequence.ts";
import type { SipTimers } from "./machine.ts";
import type { ClientListener, OutgoingRequest } from "./transactions.ts";

/** Shared by all client transactions of a trunk (RFC 3261 section 17.1). */
export interface ClientScope {
  readonly system: System;
  readonly timers: SipTimers;
  readonly transports: Transports;
  readonly resolve: Resolve;
  readonly failedHops: FailedHops;
  readonly chosenHops: ChosenHops;
  readonly tcpInstead: TcpInstead;
  /** A registered client transaction, not started yet. */
  open(request: SipRequest, flow: Flow, patience: Patience, owner: TransactionOwner): ClientTransaction;
  late(response: SipResponse, flow: Flow): void;
  /** The request got its final response, or failed. */
  done(request: ClientRequest): void;
}

/** Methods that only the trunk's own server receives; requests of a call may go to another server. */
const TRUNK_METHODS: ReadonlySet<string> = new Set(["OPTIONS", "REGISTER"]);

/** Options of {@link ClientSide}. */
interface ClientSideOptions extends Pick<ClientScope, "system" | "timers" | "transports" | "resolve" | "late"> {
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

const MOST_REMEMBERED = 2_048;

/**
 * The hop that responded last, by Call-ID (RFC 3263 section 4.3). The next request of the series goes there first: the
 * server that sent a challenge knows its nonce, and the server that accepted a registration has it.
 */
class ChosenHops {
  /** By address and port without the transport: a long request may have taken TCP. */
  readonly #chosen = new BoundedMap<string, string>(MOST_REMEMBERED);

  remember(callId: string, hop: Hop): void {
    this.#chosen.set(callId, addressAndPort(hop));
  }

  /** The same hops, the chosen one first. */
  first(callId: string, hops: readonly Hop[]): readonly Hop[] {
    const chosen = this.#chosen.get(callId);
    const hop = hops.find((one) => addressAndPort(one) === chosen);
    return hop === undefined ? hops : [hop, ...hops.filter((one) => one !== hop)];
  }
}

/** Responses of a proxy whose server does not work (RFC 3261 section 21). */
const SERVER_DOWN: ReadonlySet<number> = new Set([408, 503]);

/** Options of {@link probeHop}. */
interface HopProbeOptions extends Pick<ClientScope, "open" | "timers"> {
  readonly system: System;
  readonly transports: Transports;
  /** Whether the peer responds to OPTIONS; else a connection is enough, and a hop of UDP counts as working. */
  readonly asks: boolean;
  readonly signal: AbortSignal;
}

/** Probes a failed hop with OPTIONS (RFC 3261 section 11), on another connection than the `dead` one. */
async function probeHop(hop: Hop, dead: Flow | undefined, options: HopProbeOptions): Promise<boolean> {
  const { system, transports, timers, open, asks, signal } = options;
  const flow = await transports.connect(hop, signal, dead);
  if (!asks) return true;
  const sentBy = transports.sentBy(flow);
  const uri = `sip:${writeHostPort({ host: hop.host, port: undefined })}`;
  const headers = new SipHeaders()
    .add("Via", viaOf(flow.kind, sentBy, newBranch(system)))
    .add("Max-Forwards", "70")
    .add("From", `<sip:${sentBy}>;tag=${randomText(system, 8)}`)
    .add("To", `<${uri}>`)
    .add("Call-ID", randomText(system, 16))
    .add("CSeq", "1 OPTIONS");
  return await new Promise((resolve, reject) => {
    const final = ({ status }: SipResponse): void => resolve(!SERVER_DOWN.has(status));
    const owner = { final, failed: reject, provisional() {}, late() {}, cancel() {} };
    open(sipRequest("OPTIONS", uri, headers), flow, { giveUpMs: timers.nextHopMs }, owner).start();
  });
}
