import { createSocket, type Socket } from "node:dgram";
import type { LatenessFigures } from "../../../src/audio/playout/lateness.ts";
import { Beat } from "../harness/beat.ts";
import type { AudioLoad } from "./calls-at-once.ts";

const RTP_BYTES = 172;

/**
 * The minimum cost of calls with G.711 in this runtime: for each call a connected socket that sends a packet of 172 bytes every 20 ms, spread over the milliseconds, and counts the returned packets. No codec, no reordering, no statistics.
 */
export class BareLoop implements AudioLoad {
  readonly underruns = 0;
  sent = 0;
  received = 0;
  readonly #port: number;
  readonly #beat = new Beat();
  readonly #sockets: Socket[] = [];

  /** @param port of the echo, on 127.0.0.1 */
  constructor(port: number) {
    this.#port = port;
    this.#beat.start();
  }

  get lateness(): LatenessFigures {
    return this.#beat.lateness;
  }

  async grow(count: number): Promise<void> {
    while (this.#sockets.length < count) {
      const socket = createSocket("udp4");
      socket.on("message", () => this.received++);
      await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
      await new Promise<void>((resolve) => socket.connect(this.#port, "127.0.0.1", resolve));
      this.#sockets.push(socket);
      const packet = new Uint8Array(RTP_BYTES);
      packet[0] = 0x80;
      this.#beat.add(() => {
        packet[3] = packet[3]! + 1;
        if (packet[3] === 0) packet[2] = packet[2]! + 1;
        socket.send(packet);
        this.sent++;
      });
    }
  }

  begin(): void {
    this.#beat.lateness.reset();
    this.sent = 0;
    this.received = 0;
  }

  async close(): Promise<void> {
    this.#beat.stop();
    for (const socket of this.#sockets) await new Promise<void>((resolve) => socket.close(resolve));
  }
}
