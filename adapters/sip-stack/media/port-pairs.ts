import type { System } from "../ports.ts";
import type { SocketAddress } from "../transport/transport.ts";
import { PortsExhausted } from "./engine.ts";

/** Number of pairs below 65,536. */
const PAIRS = 2 ** 15;
/** Mark of a pair that no thread uses. */
const FREE = 0;

/**
 * The pairs of ports used by calls: an even one for RTP, the next for RTCP (RFC 3550 section 11). Threads with the same
 * memory never take the same pair: its byte has the number of the thread that uses it.
 */
export class PortPairs {
  readonly #owners: Uint8Array;
  readonly #thread: number;
  readonly #randomBytes = new Uint8Array(4);
  readonly #system: System;

  /** The memory in which threads mark their pairs. */
  static memory(): SharedArrayBuffer {
    return new SharedArrayBuffer(PAIRS);
  }

  /**
   * @param memory memory of all threads with calls on these ports. Default: a separate one
   * @param thread number of this thread, 1 to 255. Default: 1
   */
  constructor(system: System, memory: SharedArrayBuffer = PortPairs.memory(), thread = 1) {
    this.#system = system;
    this.#owners = new Uint8Array(memory);
    this.#thread = thread;
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
      if (Atomics.compareExchange(this.#owners, port >> 1, FREE, this.#thread) !== FREE) continue;
      try {
        const result = await bind(port);
        if (result !== undefined) return result;
      } catch (fault) {
        this.release(port);
        throw fault;
      }
      this.release(port);
    }
    throw new PortsExhausted(
      `all ${pairs} pairs of UDP ports from ${first} to ${last} are in use; a wider range (rtpPorts) allows more calls`,
    );
  }

  /** Releases a pair of this thread. Idempotent. */
  release(port: number): void {
    Atomics.compareExchange(this.#owners, port >> 1, this.#thread, FREE);
  }

  /** Releases all pairs of the thread, which has ended. */
  releaseAll(): void {
    for (let pair = 0; pair < PAIRS; pair++) this.release(2 * pair);
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
