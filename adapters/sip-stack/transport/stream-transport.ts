import { isIP, type Socket } from "node:net";
import { BoundedMap, type System } from "../ports.ts";
import { openSipStream } from "./open-connection.ts";
import { StreamFlow } from "./stream-flow.ts";
import { peerCertificateFault, type TlsOptions } from "./tls.ts";
import {
  addressAndPort,
  type Flow,
  type Hop,
  networkFault,
  placeName,
  type SocketAddress,
  TransportError,
  type TransportKind,
  type TransportListener,
  unlessAborted,
} from "./transport.ts";

/** Time for which a connection that is not held may be idle before it is closed, ms. */
const IDLE_MS = 5 * 60_000;
/** Time for which an accepted connection may be idle before its first message, ms. */
const FIRST_MESSAGE_MS = 30_000;
/** Maximum number of connections opened by us, and accepted from peers. */
const MAX_CONNECTIONS = 64;
const MAX_ACCEPTED = 256;
const MAX_NAMES = 256;

/** Options of {@link StreamTransport}. */
export interface StreamTransportOptions {
  readonly system: System;
  readonly tls: TlsOptions;
  /** See `TransportsOptions.serverName`. */
  readonly serverName: string | undefined;
  readonly localAddress: string | undefined;
  readonly connectTimeoutMs: number;
  readonly listener: () => TransportListener;
  readonly onMalformed: (from: SocketAddress, detail: string) => void;
}

/** The TCP and TLS connections. */
export class StreamTransport {
  readonly #options: StreamTransportOptions;
  /** Connections to hops, open or opening. */
  readonly #connections = new Map<string, Promise<StreamFlow>>();
  /** Names for which certificates have been verified, by address and port. */
  readonly #names = new BoundedMap<string, string>(MAX_NAMES);
  readonly #flows = new Set<StreamFlow>();
  readonly #acceptedFlows = new Set<StreamFlow>();
  readonly #closeController = new AbortController();

  constructor(options: StreamTransportOptions) {
    this.#options = options;
  }

  /**
   * Returns the open connection to this hop, unless it is `deadFlow`, or opens a new one. @throws {TransportError}
   */
  async connect(target: Hop, signal: AbortSignal, deadFlow?: Flow): Promise<Flow> {
    if (this.#closeController.signal.aborted) throw new TransportError("closed", "the trunk was closed");
    const hop = this.#withName(target);
    const key = `${hop.kind} ${hop.address} ${hop.port}${hop.kind === "tls" ? ` ${hop.host}` : ""}`;
    const existing = this.#connections.get(key);
    if (existing === undefined) return unlessAborted(this.#open(key, hop), signal);
    const flow = await unlessAborted(existing, signal);
    if (flow.isAlive && flow !== deadFlow) return flow;
    this.#forget(key, existing);
    return this.connect(hop, signal, deadFlow);
  }

  /**
   * A route or a Contact may name a server by its address; its certificate must be issued for the name previously used
   * to reach it, otherwise for the trunk's name (RFC 5922 section 7.3).
   */
  #withName(hop: Hop): Hop {
    if (hop.kind !== "tls" || isIP(hop.host) === 0) return hop;
    return { ...hop, host: this.#names.get(addressAndPort(hop)) ?? this.#trunkName ?? hop.host };
  }

  /** The name of the trunk's host; undefined if the trunk is configured by an address. */
  get #trunkName(): string | undefined {
    const { serverName } = this.#options;
    return serverName === undefined || isIP(serverName) !== 0 ? undefined : serverName;
  }

  #remember(hop: Hop): void {
    if (hop.kind === "tls" && isIP(hop.host) === 0) this.#names.set(addressAndPort(hop), hop.host);
  }

  /** Accepts a connection from our listener. */
  accept(socket: Socket, kind: Exclude<TransportKind, "udp">): void {
    if (this.#acceptedFlows.size >= MAX_ACCEPTED && !this.#makeRoom()) {
      socket.destroy();
      return;
    }
    socket.setNoDelay(true);
    const flow = this.#flow(socket, kind, { firstMs: FIRST_MESSAGE_MS });
    this.#acceptedFlows.add(flow);
  }

  async close(): Promise<void> {
    this.#closeController.abort();
    await Promise.allSettled(this.#connections.values());
    await Promise.all([...this.#flows].map((flow) => flow.close()));
  }

  #open(key: string, hop: Hop): Promise<StreamFlow> {
    if (this.#connections.size >= MAX_CONNECTIONS)
      throw new TransportError("limit", `the trunk is at its limit of ${MAX_CONNECTIONS} connections`);
    const { system, tls, localAddress, connectTimeoutMs: timeoutMs } = this.#options;
    const opening = openSipStream(hop, { system, tls, localAddress, timeoutMs }, this.#closeController.signal).then(
      (socket) => {
        this.#remember(hop);
        return this.#flow(socket, hop.kind === "tls" ? "tls" : "tcp", {
          firstMs: IDLE_MS,
          host: hop.host,
          forget: () => this.#forget(key, opening),
        });
      },
    );
    opening.catch(() => this.#forget(key, opening));
    this.#connections.set(key, opening);
    return opening;
  }

  #forget(key: string, opening: Promise<StreamFlow>): void {
    if (this.#connections.get(key) === opening) this.#connections.delete(key);
  }

  #flow(
    socket: Socket,
    kind: Exclude<TransportKind, "udp">,
    { firstMs, host, forget }: { readonly firstMs: number; readonly host?: string; readonly forget?: () => void },
  ): StreamFlow {
    const { system, tls, listener, onMalformed } = this.#options;
    const flow: StreamFlow = new StreamFlow({
      socket,
      kind,
      system,
      idleMs: IDLE_MS,
      firstMs,
      listener,
      onMalformed,
      faultOf: (cause, remote) =>
        kind === "tls"
          ? peerCertificateFault(
              cause,
              { ...remote, host: host ?? remote.address },
              tls.servername ?? host ?? remote.address,
              "closed",
            )
          : networkFault(cause, `the connection to ${placeName(kind, remote)} failed`, "closed"),
      onClosed: (endedFlow, fault) => {
        forget?.();
        this.#flows.delete(endedFlow);
        this.#acceptedFlows.delete(endedFlow);
        if (!this.#closeController.signal.aborted) listener().closed(endedFlow, fault);
      },
    });
    this.#flows.add(flow);
    return flow;
  }

  /** Closes the accepted connection that has been idle for longest, preferably one that has carried no message. */
  #makeRoom(): boolean {
    let idlestFlow: StreamFlow | undefined;
    for (const flow of this.#acceptedFlows) {
      if (flow.isHeld || !flow.isAlive) continue;
      if (
        idlestFlow === undefined ||
        (flow.hasSpoken === idlestFlow.hasSpoken ? flow.usedAt < idlestFlow.usedAt : !flow.hasSpoken)
      )
        idlestFlow = flow;
    }
    if (idlestFlow === undefined) return false;
    this.#acceptedFlows.delete(idlestFlow);
    void idlestFlow.close(new TransportError("limit", "too many connections are open; this one has been idle longest"));
    return true;
  }
}
