import { randomText } from "../message/grammar.ts";
import { SipHeaders } from "../message/headers.ts";
import { type SipRequest, type SipResponse, sipRequest } from "../message/sip-message.ts";
import { writeHostPort } from "../message/uri.ts";
import { BoundedMap, type System } from "../ports.ts";
import {
  addressAndPort,
  asTransportError,
  type Flow,
  type Hop,
  type TransportError,
  type Transports,
} from "../transport/transport.ts";
import { newBranch, viaOf } from "./branch.ts";
import type { ClientScope } from "./transaction-layer.ts";

/** The hop that an attempt uses, and the hops to try if it fails. */
export interface AttemptHops {
  /** The attempt's hop; undefined if the request was sent on a flow. */
  readonly hop: Hop | undefined;
  /** The UDP hop, if the attempt uses TCP instead. */
  readonly fallback: Hop | undefined;
  /** The same hop on another connection. */
  readonly retryHop: Hop | undefined;
}

/** The remaining hops of a request (RFC 3263 section 4.3). */
export class HopSequence {
  readonly #scope: ClientScope;
  #hops: Hop[] = [];
  /** The connection that was found dead, so that the request was sent again on another one. */
  #deadFlow: Flow | undefined;

  constructor(scope: ClientScope) {
    this.#scope = scope;
  }

  get isEmpty(): boolean {
    return this.#hops.length === 0;
  }

  /** Starts with the hops of a URI. @throws {TransportError} */
  async resolve(uri: string, callId: string, signal: AbortSignal): Promise<void> {
    const { failedHops, chosenHops } = this.#scope;
    this.#hops = failedHops.inOrder(chosenHops.first(callId, await this.#scope.resolve(uri, signal)));
  }

  /**
   * Connects to the next reachable hop.
   * @param initialFault the fault to throw if no hop is left
   * @throws {TransportError} the latest fault
   */
  async connect(
    initialFault: TransportError,
    signal: AbortSignal,
  ): Promise<{ readonly hop: Hop; readonly flow: Flow }> {
    let fault = initialFault;
    for (let hop = this.#hops.shift(); hop !== undefined; hop = this.#hops.shift()) {
      try {
        return { hop, flow: await this.#scope.transports.connect(hop, signal, this.#deadFlow) };
      } catch (cause) {
        fault = asTransportError(cause);
        if (signal.aborted) break;
        this.#scope.failedHops.add(hop);
      }
    }
    throw fault;
  }

  /**
   * The hop for repeating an INVITE whose connection, which has worked before, breaks or seems dead before any
   * response. The repetition is the same request with another branch (RFC 3261 section 8.1.3.1, RFC 3263 section 4.3),
   * so a server that has already received it responds with 482 (RFC 3261 section 8.2.2.2).
   */
  hopForRetry(flow: Flow, hop: Hop | undefined): Hop | undefined {
    return this.#deadFlow === undefined && flow.hasSpoken === true ? hop : undefined;
  }

  /** Handles a failed attempt: its alternatives are next. @param hasResponded true if it got any response */
  onFailure({ hop, fallback, retryHop }: AttemptHops, flow: Flow, fault: TransportError, hasResponded: boolean): void {
    if (retryHop !== undefined && !hasResponded && (!flow.isAlive || fault.fault === "closed")) {
      this.#deadFlow = flow;
      this.#hops.unshift(retryHop);
    } else if (hop !== undefined) this.#scope.failedHops.add(hop, flow);
    if (fallback === undefined) return;
    this.#hops.unshift(fallback);
    if (fault.fault === "timeout") this.#scope.tcpUpgrade.avoid(fallback);
  }
}

/** Time limit for connecting, after which the request is sent over UDP, ms. */
const CONNECT_MS = 1_000;
/** Time for which UDP is used for a peer after a connection failed or stayed silent, ms. */
const REMEMBER_MS = 10 * 60_000;
const MAX_PEERS = 256;

/** TCP in place of UDP for requests that may exceed the path MTU (RFC 3261 section 18.1.1), if the peer accepts it. */
export class TcpUpgrade {
  readonly #transports: Transports;
  readonly #system: System;
  /** Peers for which UDP is used anyway, each with the end of that period. */
  readonly #udpPeers = new BoundedMap<string, number>(MAX_PEERS);

  constructor(transports: Transports, system: System) {
    this.#transports = transports;
    this.#system = system;
  }

  /** A connection to the same address and port; undefined if the peer does not accept one soon. */
  async flow(hop: Hop, signal: AbortSignal): Promise<Flow | undefined> {
    if ((this.#udpPeers.get(addressAndPort(hop)) ?? 0) > this.#system.monotonic()) return undefined;
    const timeout = new AbortController();
    const abort = (): void => timeout.abort();
    const cancelTimer = this.#system.after(CONNECT_MS, abort);
    signal.addEventListener("abort", abort, { once: true });
    try {
      return await this.#transports.connect({ ...hop, kind: "tcp" }, timeout.signal);
    } catch {
      if (!signal.aborted) this.avoid(hop);
      return undefined;
    } finally {
      cancelTimer();
      signal.removeEventListener("abort", abort);
    }
  }

  /** Avoids TCP to this peer for a while, since it accepts no connection or sends no data on it. */
  avoid(hop: Hop): void {
    this.#udpPeers.set(addressAndPort(hop), this.#system.monotonic() + REMEMBER_MS);
  }
}

/** Maximum length of a request sent over UDP, bytes (RFC 3261 section 18.1.1). */
const LONG_BYTES = 1300;
const SEPARATORS = 4; // ": " and CRLF
const CONTENT_LENGTH = 24;

/** True if a request is too long for UDP. Counts one byte per character, without encoding the message. */
export function isLong({ method, uri, headers, body }: SipRequest): boolean {
  let bytes = method.length + uri.length + " SIP/2.0 \r\n\r\n".length + CONTENT_LENGTH + body.length;
  for (const [name, value] of headers) bytes += name.length + value.length + SEPARATORS;
  return bytes > LONG_BYTES;
}

const MAX_CALLS = 2_048;

/**
 * The hop that responded last, by Call-ID (RFC 3263 section 4.3). The next request of the series is sent there first:
 * the server that sent a challenge knows its nonce, and the server that accepted a registration stores it.
 */
export class ChosenHops {
  /** Hops by Call-ID, as address and port without the transport: a long request may have taken TCP. */
  readonly #hopByCall = new BoundedMap<string, string>(MAX_CALLS);

  remember(callId: string, hop: Hop): void {
    this.#hopByCall.set(callId, addressAndPort(hop));
  }

  /** The same hops, the chosen one first. */
  first(callId: string, hops: readonly Hop[]): readonly Hop[] {
    const key = this.#hopByCall.get(callId);
    const hop = hops.find((candidate) => addressAndPort(candidate) === key);
    return hop === undefined ? hops : [hop, ...hops.filter((other) => other !== hop)];
  }
}

/** Responses from a proxy whose server does not work (RFC 3261 section 21). */
const SERVER_DOWN: ReadonlySet<number> = new Set([408, 503]);

/** Options of {@link probeHop}. */
interface HopProbeOptions extends Pick<ClientScope, "open" | "timers"> {
  readonly system: System;
  readonly transports: Transports;
  /** True to require a response to OPTIONS; otherwise a connection is enough, and a UDP hop is assumed to work. */
  readonly requiresResponse: boolean;
  readonly signal: AbortSignal;
}

/** Probes a failed hop with OPTIONS (RFC 3261 section 11), on a connection other than `deadFlow`. */
export async function probeHop(hop: Hop, deadFlow: Flow | undefined, options: HopProbeOptions): Promise<boolean> {
  const { system, transports, timers, open, requiresResponse, signal } = options;
  const flow = await transports.connect(hop, signal, deadFlow);
  if (!requiresResponse) return true;
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
    const owner = { final, failed: reject, provisional() {}, lateSuccess() {}, cancel() {} };
    open(sipRequest("OPTIONS", uri, headers), flow, { giveUpMs: timers.nextHopMs }, owner).start();
  });
}
