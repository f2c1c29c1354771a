import type { SipRequest } from "../message/message.ts";
import { BoundedMap, type System } from "../ports.ts";
import {
  addressAndPort,
  asTransportError,
  type Flow,
  type Hop,
  type TransportError,
  type Transports,
} from "../transport/transport.ts";
import type { ClientScope } from "./client-side.ts";

/** The hop of an attempt, and the hops to try if it fails. */
export interface AttemptHops {
  /** Undefined: the request was given a flow. */
  readonly hop: Hop | undefined;
  /** UDP, if the attempt takes TCP in its place. */
  readonly otherwise: Hop | undefined;
  /** The same hop on another connection. */
  readonly again: Hop | undefined;
}

/** The remaining hops of a request (RFC 3263 section 4.3). */
export class HopSequence {
  readonly #scope: ClientScope;
  #hops: Hop[] = [];
  /** A dead connection: the request was sent again on another one. */
  #dead: Flow | undefined;

  constructor(scope: ClientScope) {
    this.#scope = scope;
  }

  get isEmpty(): boolean {
    return this.#hops.length === 0;
  }

  /** Takes the hops of a URI. @throws {TransportError} */
  async resolve(uri: string, callId: string, signal: AbortSignal): Promise<void> {
    const { resolve, failedHops, chosenHops } = this.#scope;
    this.#hops = failedHops.inOrder(chosenHops.first(callId, await resolve(uri, signal)));
  }

  /**
   * Connects to the next reachable hop.
   * @param why the fault to throw if no hop is left
   * @throws {TransportError} the latest fault
   */
  async connect(why: TransportError, signal: AbortSignal): Promise<{ readonly hop: Hop; readonly flow: Flow }> {
    let fault = why;
    for (let hop = this.#hops.shift(); hop !== undefined; hop = this.#hops.shift()) {
      try {
        return { hop, flow: await this.#scope.transports.connect(hop, signal, this.#dead) };
      } catch (cause) {
        fault = asTransportError(cause);
        if (signal.aborted) break;
        this.#scope.failedHops.add(hop);
      }
    }
    throw fault;
  }

  /**
   * The hop that an INVITE is sent to once more if its connection, which has worked before, breaks or seems dead before
   * any response. It is the same request with another branch (RFC 3261 section 8.1.3.1, RFC 3263 section 4.3), so a
   * server that has received it already responds with 482 (RFC 3261 section 8.2.2.2).
   */
  again(flow: Flow, hop: Hop | undefined): Hop | undefined {
    return this.#dead === undefined && flow.spoken === true ? hop : undefined;
  }

  /** An attempt has failed: its alternatives come next. @param responded whether it got any response */
  failed({ hop, otherwise, again }: AttemptHops, flow: Flow, fault: TransportError, responded: boolean): void {
    if (again !== undefined && !responded && (!flow.alive || fault.fault === "closed")) {
      this.#dead = flow;
      this.#hops.unshift(again);
    } else if (hop !== undefined) this.#scope.failedHops.add(hop, flow);
    if (otherwise === undefined) return;
    this.#hops.unshift(otherwise);
    if (fault.fault === "timeout") this.#scope.tcpInstead.mute(otherwise);
  }
}

/** How long a connection may take before the request is sent over UDP, ms. */
const PATIENCE_MS = 1_000;
/** How long a peer gets UDP after a connection failed or stayed silent, ms. */
const REMEMBER_MS = 10 * 60_000;
const MOST_REMEMBERED = 256;

/** TCP in place of UDP for requests that may exceed the path MTU (RFC 3261 section 18.1.1), if the peer accepts it. */
export class TcpInstead {
  readonly #transports: Transports;
  readonly #system: System;
  /** Peers that get UDP all the same, with the time until when. */
  readonly #unwilling = new BoundedMap<string, number>(MOST_REMEMBERED);

  constructor(transports: Transports, system: System) {
    this.#transports = transports;
    this.#system = system;
  }

  /** A connection to the same address and port; undefined if the peer does not accept one soon. */
  async flow(hop: Hop, signal: AbortSignal): Promise<Flow | undefined> {
    if ((this.#unwilling.get(addressAndPort(hop)) ?? 0) > this.#system.monotonic()) return undefined;
    const patience = new AbortController();
    const impatient = (): void => patience.abort();
    const settle = this.#system.after(PATIENCE_MS, impatient);
    signal.addEventListener("abort", impatient, { once: true });
    try {
      return await this.#transports.connect({ ...hop, kind: "tcp" }, patience.signal);
    } catch {
      if (!signal.aborted) this.mute(hop);
      return undefined;
    } finally {
      settle();
      signal.removeEventListener("abort", impatient);
    }
  }

  /** Avoids TCP to this peer for a while: it accepts no connection, or sends nothing on it. */
  mute(hop: Hop): void {
    this.#unwilling.set(addressAndPort(hop), this.#system.monotonic() + REMEMBER_MS);
  }
}

/** The longest request that is sent over UDP, bytes (RFC 3261 section 18.1.1). */
const LONG_BYTES = 1300;
const SEPARATORS = 4; // ": " and CRLF
const CONTENT_LENGTH = 24;

/** Whether a request is too long for UDP. Counts one byte per character, without encoding the message. */
export function isLong({ method, uri, headers, body }: SipRequest): boolean {
  let bytes = method.length + uri.length + " SIP/2.0 \r\n\r\n".length + CONTENT_LENGTH + body.length;
  for (const [name, value] of headers) bytes += name.length + value.length + SEPARATORS;
  return bytes > LONG_BYTES;
}
