import { parseMessage, skipEmptyLines } from "../message/parse-message.ts";
import { BoundedMap, type System } from "../ports.ts";
import { type AddressCheck, canonicalAddress, isWildcard } from "./addresses.ts";
import { prepareIncoming } from "./incoming.ts";
import { interfaceAddress } from "./own-addresses.ts";
import {
  addressAndPort,
  type Flow,
  type Hop,
  type SocketAddress,
  TransportError,
  type TransportListener,
} from "./transport.ts";
import { UdpFlow } from "./udp-flow.ts";
import { exploreRoute } from "./udp-route.ts";
import { type Family, UdpSocket } from "./udp-socket.ts";

/** Time for which a peer may be silent before its route is explored for the next request, ms. */
const EXPLORE_AFTER_MS = 5_000;
/** Time without sending to a peer after the network has reported it as unreachable, ms. */
const REFUSED_MS = 1_000;
const MAX_FLOWS = 1_024;

/** Options of {@link UdpTransport}. */
interface UdpTransportOptions {
  readonly system: System;
  /** The address to bind to; a socket of the other family binds to all addresses. */
  readonly address: string | undefined;
  /** The port to bind; the system chooses one for 0. */
  readonly port: number;
  /** True if requests are accepted from any address. */
  readonly acceptsAny: boolean;
  /** The addresses whose datagrams are accepted. */
  readonly allows: AddressCheck;
  /** True if a route is explored with a keep-alive. */
  readonly probe: boolean;
  readonly listener: () => TransportListener;
  /** Called for a datagram that is not a valid message. */
  readonly onMalformed: (from: SocketAddress, detail: string) => void;
  /** Called for a request from an unexpected address. */
  readonly onStranger: (from: SocketAddress) => void;
}

/** Our UDP sockets, one per address family, and their flows. */
export class UdpTransport {
  readonly #options: UdpTransportOptions;
  readonly #sockets = new Map<Family, Promise<UdpSocket>>();
  readonly #flows = new Map<string, UdpFlow>();
  readonly #peers = new ExpectedPeers();
  readonly #closeController = new AbortController();

  constructor(options: UdpTransportOptions) {
    this.#options = options;
  }

  get #closed(): boolean {
    return this.#closeController.signal.aborted;
  }

  /** The address of a family's socket, which is opened if necessary. @throws {TransportError} */
  async bind(family: Family): Promise<SocketAddress> {
    return (await this.#socket(family)).boundAddress;
  }

  /** Accepts requests from this address. */
  expect(address: string): void {
    this.#peers.add(address);
  }

  async connect(hop: Hop): Promise<Flow> {
    this.#peers.add(hop.address);
    const family = familyOf(hop.address);
    const { address } = this.#options;
    if (address !== undefined && familyOf(address) !== family)
      throw new TransportError("unreachable", `${hop.address} cannot be reached from our own address ${address}`);
    const flow = this.#flowTo(await this.#socket(family), hop);
    const now = this.#options.system.monotonic();
    // The report may arrive between two requests. The second one would be lost without another report.
    if (flow.refusal !== undefined && now - flow.refusal.at < REFUSED_MS && flow.receivedAt < flow.refusal.at)
      throw flow.refusal.fault;
    if (now - Math.max(flow.exploredAt, flow.receivedAt) >= EXPLORE_AFTER_MS) {
      const isFirst = flow.exploredAt === Number.NEGATIVE_INFINITY;
      const exploration = this.#explore(flow);
      if (isFirst) flow.firstExploration = exploration;
      flow.exploredAt = now;
      exploration.catch((fault: TransportError) => {
        if (isFirst)
          flow.exploredAt = Number.NEGATIVE_INFINITY; // `connect` reports it; explored again next time
        else this.#onFailure(flow, fault);
      });
    }
    await flow.firstExploration;
    return flow;
  }

  async close(): Promise<void> {
    this.#closeController.abort();
    for (const flow of this.#flows.values()) flow.stop();
    this.#flows.clear();
    const sockets = await Promise.allSettled(this.#sockets.values());
    await Promise.all(sockets.map((result) => (result.status === "fulfilled" ? result.value.close() : undefined)));
  }

  #socket(family: Family): Promise<UdpSocket> {
    if (this.#closed) throw new TransportError("closed", "the trunk was closed");
    const existing = this.#sockets.get(family);
    if (existing !== undefined) return existing;
    const { address, port } = this.#options;
    const bindAddress = address !== undefined && familyOf(address) === family ? address : undefined;
    const opening = UdpSocket.open(family, bindAddress, port, (socket, bytes, from) =>
      this.#onDatagram(socket, bytes, from),
    );
    this.#sockets.set(family, opening);
    opening.catch(() => this.#sockets.delete(family)); // tried again next time
    return opening;
  }

  #flowTo(socket: UdpSocket, { address, port }: SocketAddress): UdpFlow {
    const key = addressAndPort({ address, port });
    const existing = this.#flows.get(key);
    if (existing?.isAlive) return existing;
    const { boundAddress } = socket;
    const localAddress = isWildcard(boundAddress.address) ? this.#likelyAddress(address) : boundAddress.address;
    const flow = new UdpFlow(socket, { address, port }, localAddress, this.#options.system, (failedFlow, fault) =>
      this.#onFailure(failedFlow, fault),
    );
    if (this.#flows.size >= MAX_FLOWS) this.#dropUnusedFlow();
    this.#flows.set(key, flow);
    return flow;
  }

  /** Our address on another flow of this family, which is nearly always right; exploring the route corrects it. */
  #likelyAddress(peer: string): string {
    for (const { remote, local } of this.#flows.values())
      if (familyOf(remote.address) === familyOf(peer)) return local.address;
    return interfaceAddress(peer) ?? (familyOf(peer) === 4 ? "0.0.0.0" : "::");
  }

  #dropUnusedFlow(): void {
    for (const [key, flow] of this.#flows)
      if (!flow.isHeld) {
        this.#flows.delete(key);
        return;
      }
  }

  async #explore(flow: UdpFlow): Promise<void> {
    const { address: from, system, probe } = this.#options;
    const onRefused = (fault: TransportError): void => {
      flow.refusal = { fault, at: system.monotonic() };
      this.#onFailure(flow, fault);
    };
    const ourAddress = await exploreRoute({
      to: flow.remote,
      from,
      system,
      probe,
      onRefused,
      signal: this.#closeController.signal,
    });
    const address = isWildcard(ourAddress) ? interfaceAddress(flow.remote.address) : ourAddress;
    if (address !== undefined) flow.setLocalAddress(address);
  }

  #onFailure(flow: UdpFlow, fault: TransportError): void {
    if (!this.#closed) this.#options.listener().closed(flow, fault);
  }

  #onDatagram(socket: UdpSocket, bytes: Uint8Array, from: SocketAddress): void {
    if (this.#closed || skipEmptyLines(bytes, 0) === bytes.length) return; // a keep-alive
    if (!this.#options.allows(from.address)) {
      this.#options.onStranger(from);
      return;
    }
    const flow = this.#flows.get(addressAndPort(from));
    if (flow !== undefined) flow.receivedAt = this.#options.system.monotonic();
    const listener = this.#options.listener();
    const isExpected = this.#options.acceptsAny || this.#peers.has(from.address) || isResponse(bytes);
    // A request from a stranger costs only one search for its Call-ID: no parsing, no response, no memory.
    if (!isExpected && listener.hasCall?.(callIdOf(bytes) ?? "") !== true) {
      this.#options.onStranger(from);
      return;
    }
    const parsed = parseMessage(bytes);
    if (!isExpected) {
      if (parsed.kind !== "request" || listener.isOurs?.(parsed) !== true) {
        this.#options.onStranger(from);
        return;
      }
      this.#peers.add(from.address); // another of the provider's nodes continues the call
    }
    if (parsed.kind === "malformed") {
      this.#options.onMalformed(from, parsed.detail);
      if (parsed.response !== undefined) this.#flowTo(socket, from).send(parsed.response);
      return;
    }
    const { message, replyTo } = prepareIncoming(parsed, from);
    listener.message(message, this.#flowTo(socket, replyTo));
  }
}

function familyOf(address: string): Family {
  return address.includes(":") ? 6 : 4;
}

const MAX_ADDRESSES = 1_024;
/** Length of the part of a datagram that is searched for the Call-ID, bytes. */
const MAX_SEARCHED_BYTES = 8_192;
const CALL_ID = /^(?:call-id|i)[ \t]*:\s*(\S+)/im;
const LATIN1 = new TextDecoder("latin1");
const STATUS_LINE = new TextEncoder().encode("SIP/2.0 ");

/** The addresses that requests may come from: those of the trunk's host names and of our flows. */
export class ExpectedPeers {
  readonly #addresses = new BoundedMap<string, true>(MAX_ADDRESSES);

  add(address: string): void {
    this.#addresses.set(withoutZone(address), true);
  }

  has(address: string): boolean {
    return this.#addresses.has(address) || (address.includes(":") && this.#addresses.has(withoutZone(address)));
  }
}

/** A zone names an interface of this machine, not the peer. */
function withoutZone(address: string): string {
  return canonicalAddress(address.split("%", 1)[0] ?? "");
}

/** True if a datagram starts with a status line (RFC 3261 section 7.2); a response is matched by its branch. */
function isResponse(bytes: Uint8Array): boolean {
  const from = skipEmptyLines(bytes, 0);
  return STATUS_LINE.every((byte, at) => bytes[from + at] === byte);
}

/** The Call-ID of a datagram, read without parsing the rest, so that a flood costs little. */
function callIdOf(bytes: Uint8Array): string | undefined {
  return CALL_ID.exec(LATIN1.decode(bytes.subarray(0, MAX_SEARCHED_BYTES)))?.[1];
}
