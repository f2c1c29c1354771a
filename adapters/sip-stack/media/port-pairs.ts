import type { System } from "../ports.ts";
import type { SocketAddress } from "../transport/transport.ts";
import { PortsExhausted } from "./engine.ts";

/** The pairs of ports used by calls: an even one for RTP, the next for RTCP (RFC 3550 section 11). */
export class PortPairs {
  readonly #usedPorts = new Set<number>();
  readonly #randomBytes = new Uint8Array(4);
  readonly #system: System;

  constructor(system: System) {
    this.#system = system;
  }

  /**
   * Reserves a free pair that `bind` accepts, and returns the result of `bind`; the search starts at a random pair.
   *
   * @param bind returns undefined if another program uses the port
   * @throws {PortsExhausted} no pair is free
   */
  async take<T>(range: readonly [number, number], bind: (port: number) => Promise<T | undefined>): Promise<T> {
    const [first, last] = range;
    const firstEvenPort = first + (first % 2);
    const pairs = Math.max(0, Math.floor((last + 1 - firstEvenPort) / 2));
    const start = this.#random(pairs);
    for (let i = 0; i < pairs; i++) {
      const port = firstEvenPort + 2 * ((start + i) % pairs);
      if (this.#usedPorts.has(port)) continue;
      this.#usedPorts.add(port);
      try {
        const result = await bind(port);
        if (result !== undefined) return result;
      } catch (fault) {
        this.#usedPorts.delete(port);
        throw fault;
      }
      this.#usedPorts.delete(port);
    }
    throw new PortsExhausted(
      `all ${pairs} pairs of UDP ports from ${first} to ${last} are in use; a wider range (rtpPorts) allows more calls`,
    );
  }

  /** Releases the pair. Idempotent. */
  release(port: number): void {
    this.#usedPorts.delete(port);
  }

  #random(limit: number): number {
    this.#system.random(this.#randomBytes);
    const [a, b, c] = this.#randomBytes;
    return ((a! << 16) | (b! << 8) | c!) % Math.max(1, limit);
  }
}

/** The sockets of a session. */
export interface MediaSockets {
  readonly port: number;
  /** Sends from the RTP port; the array may be reused immediately. */
  send(packet: Uint8Array, to: SocketAddress): void;
  /** Sends from the RTCP port. */
  sendRtcp(packet: Uint8Array, to: SocketAddress): void;
  /** Opens the RTCP port if it is free; otherwise RTCP uses the RTP port. */
  openRtcp(multiplexed: boolean): void;
  close(): Promise<void>;
}
