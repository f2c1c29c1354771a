import type { SipRequest } from "../message/message.ts";
import type { System } from "../ports.ts";
import { BoundedMap } from "../ports.ts";
import { addressAndPort, type Flow, type Hop, type Transports } from "../transport/transport.ts";

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
