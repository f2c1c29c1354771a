import type { Logger, System } from "../ports.ts";
import type { AddressCheck } from "./addresses.ts";
import { OwnNames } from "./own-addresses.ts";
import { StreamListener, type StreamServerOptions } from "./stream-listener.ts";
import { StreamTransport } from "./stream-transport.ts";
import type { TlsOptions } from "./tls.ts";
import { type Hop, type SocketAddress, TransportError, type TransportListener, type Transports } from "./transport.ts";
import { notReachable } from "./trusted-resolve.ts";
import { UdpTransport } from "./udp-transport.ts";

/** Time limit for a peer to accept a TCP or TLS connection, ms. */
const CONNECT_TIMEOUT_MS = 5_000;

/** Options of {@link createTransports}. */
export interface TransportsOptions {
  readonly system: System;
  readonly logger: Logger;
  readonly tls?: TlsOptions | undefined;
  /** The trunk's configured host: TLS to a bare address requires its certificate. */
  readonly serverName?: string | undefined;
  /** See `Trunk.publicAddress`. */
  readonly publicAddress?: string | undefined;
  /** The IP address that our sockets are bound to. Default: all addresses of this machine. */
  readonly localAddress?: string | undefined;
  readonly listen?: StreamServerOptions | undefined;
  /** See `Trunk.crlfProbe`. Default: true. */
  readonly crlfProbe?: boolean | undefined;
  /** The allowed addresses of peers. Default: every address. */
  readonly allows?: AddressCheck | undefined;
  /** Default: 5000. */
  readonly connectTimeoutMs?: number | undefined;
}

/** The sockets of a trunk, with their counters. */
export interface TrunkTransports extends Transports {
  /** The address of the listener; undefined before `ready`, and without a listener. */
  readonly listenerAddress: SocketAddress | undefined;
  /** Number of datagrams and messages that were not valid SIP. */
  readonly malformedCount: number;
}

/** Creates the sockets of one trunk. Each is opened on first use, the listener's immediately. */
export function createTransports(options: TransportsOptions): TrunkTransports {
  return new SocketTransports(options);
}

const NO_LISTENER: TransportListener = { message() {}, closed() {} };

class SocketTransports implements TrunkTransports {
  listenerAddress: SocketAddress | undefined;
  malformedCount = 0;
  #listener = NO_LISTENER;
  readonly #udp: UdpTransport;
  readonly #streams: StreamTransport;
  readonly #names: OwnNames;
  readonly #isAllowed: AddressCheck;
  readonly #streamListener: Promise<StreamListener | undefined>;
  #closePromise: Promise<void> | undefined;

  constructor({
    system,
    logger,
    tls = {},
    serverName,
    publicAddress,
    localAddress,
    listen,
    crlfProbe,
    allows = () => true,
    connectTimeoutMs,
  }: TransportsOptions) {
    this.#isAllowed = allows;
    const listener = (): TransportListener => this.#listener;
    const onMalformed = (from: SocketAddress, detail: string): void => {
      this.malformedCount++;
      // Logs the 1st, the 10th, the 100th and so on, so that peers cannot fill our log.
      if (isMilestone(this.malformedCount))
        logger.warn(
          { address: from.address, port: from.port, detail, count: this.malformedCount },
          "not a SIP message",
        );
    };
    let strangerCount = 0;
    const onStranger = (from: SocketAddress): void => {
      strangerCount++;
      if (isMilestone(strangerCount))
        logger.warn(
          { address: from.address, port: from.port, count: strangerCount },
          "sip: dropped a request from an address that the trunk does not resolve to",
        );
    };
    const udpListener = listen?.transport === "udp" ? listen : undefined;
    this.#udp = new UdpTransport({
      system,
      address: udpListener?.address ?? localAddress,
      port: udpListener?.port ?? 0,
      acceptsAny: udpListener !== undefined,
      allows,
      probe: crlfProbe ?? true,
      listener,
      onMalformed,
      onStranger,
    });
    this.#streams = new StreamTransport({
      system,
      tls,
      serverName,
      localAddress,
      connectTimeoutMs: connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
      listener,
      onMalformed,
    });
    this.#names = new OwnNames(publicAddress, (kind) =>
      kind === listen?.transport ? this.listenerAddress?.port : undefined,
    );
    this.#streamListener = this.#accept(listen, tls);
    this.#streamListener.catch(() => {}); // reported by `ready`
  }

  async connect(...[hop, signal, deadFlow]: Parameters<Transports["connect"]>): ReturnType<Transports["connect"]> {
    if (this.#closePromise !== undefined) throw new TransportError("closed", "the trunk was closed");
    // The last check before a socket, whatever a resolver returned.
    if (!this.#isAllowed(hop.address)) throw notReachable(hop.host);
    return hop.kind === "udp" ? this.#udp.connect(hop) : this.#streams.connect(hop, signal, deadFlow);
  }

  expect(hops: readonly Hop[]): void {
    for (const { address } of hops) this.#udp.expect(address);
  }

  sentBy(...[flow]: Parameters<Transports["sentBy"]>): string {
    return this.#names.nameFor(flow);
  }

  learnAddress(...args: Parameters<Transports["learnAddress"]>): void {
    this.#names.learn(...args);
  }

  listen(listener: TransportListener): void {
    this.#listener = listener;
  }

  async ready(): Promise<void> {
    await this.#streamListener;
  }

  close(): Promise<void> {
    this.#closePromise ??= this.#close();
    return this.#closePromise;
  }

  async #accept(listen: StreamServerOptions | undefined, tls: TlsOptions): Promise<StreamListener | undefined> {
    if (listen === undefined) return undefined;
    if (listen.transport === "udp") {
      const family = listen.address?.includes(":") ? 6 : 4;
      this.listenerAddress = await this.#udp.bind(family);
      return undefined;
    }
    const streamListener = await StreamListener.open({
      listen,
      tls,
      accept: (socket, kind) => this.#streams.accept(socket, kind),
    });
    this.listenerAddress = streamListener.boundAddress;
    return streamListener;
  }

  async #close(): Promise<void> {
    this.#listener = NO_LISTENER;
    const streamListener = await this.#streamListener.catch(() => undefined);
    await Promise.all([streamListener?.close(), this.#streams.close(), this.#udp.close()]);
  }
}

/** True for counts that are logged: 1, 10, 100 and so on. */
function isMilestone(count: number): boolean {
  return Number.isInteger(Math.log10(count));
}
