import { createSocket, type Socket } from "node:dgram";
import { Lateness } from "../../../src/audio/playout/lateness.ts";
import type { Load } from "./load.ts";

const PERIOD_MS = 20;
const RTP_BYTES = 172;

interface Flow {
  readonly socket: Socket;
  readonly packet: Uint8Array;
}

/**
 * The minimum work of G.711 calls in this runtime: for each call, a connected socket that sends a packet of 172
 * bytes every 20 ms, spread over the milliseconds, and counts the returned packets. No codec, no ordering, no statistics.
 */
export class BareLoop implements Load {
  readonly lateness: Lateness = new Lateness();
  readonly underruns = 0;
  sent = 0;
  received = 0;
  readonly #port: number;
  readonly #slots: Flow[][] = Array.from({ length: PERIOD_MS }, () => []);
  #count = 0;
  #start = 0;
  #next = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param port where the echo is, on 127.0.0.1 */
  constructor(port: number) {
    this.#port = port;
  }

  async grow(count: number): Promise<void> {
    while (this.#count < count) {
      const socket = createSocket("udp4");
      socket.on("message", () => this.received++);
      await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
      await new Promise<void>((resolve) => socket.connect(this.#port, "127.0.0.1", resolve));
      const packet = new Uint8Array(RTP_BYTES);
      packet[0] = 0x80;
      this.#slots[this.#count++ % PERIOD_MS]?.push({ socket, packet });
    }
    if (this.#timer !== undefined) return;
    this.#start = performance.now();
    this.#wake();
  }

  begin(): void {
    this.lateness.reset();
    this.sent = 0;
    this.received = 0;
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    for (const { socket } of this.#slots.flat()) await new Promise<void>((resolve) => socket.close(resolve));
  }

  readonly #wake = (): void => {
    while (this.#start + this.#next <= performance.now()) {
      const slot = this.#slots[this.#next % PERIOD_MS]!;
      for (const { socket, packet } of slot) {
        packet[3] = packet[3]! + 1;
        if (packet[3] === 0) packet[2] = packet[2]! + 1;
        socket.send(packet);
      }
      this.sent += slot.length;
      if (slot.length > 0) this.lateness.add(performance.now() - this.#start - this.#next, slot.length);
      this.#next++;
    }
    this.#timer = setTimeout(this.#wake, Math.max(0, this.#start + this.#next - performance.now()));
  };
}
