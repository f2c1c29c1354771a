import { createSocket, type Socket } from "node:dgram";
import { Beat } from "../../../adapters/cli/bench/beat.ts";
import type { TrialCounts } from "../../../adapters/cli/bench/ramp.ts";
import type { AudioLoad } from "../../../adapters/cli/bench/trial.ts";
import type { LatenessFigures } from "../../../src/audio/playout/lateness.ts";

const RTP_BYTES = 172;

/**
 * The minimum cost of calls with G.711 in this runtime: for each call a connected socket that sends a packet of 172 bytes every 20 ms, spread over the milliseconds, and counts the returned packets. No codec, no reordering, no statistics.
 */
export class BareLoop implements AudioLoad {
  readonly #port: number;
  readonly #beat = new Beat();
  readonly #flows: { readonly socket: Socket; readonly send: () => void }[] = [];
  #sent = 0;
  #received = 0;

  /** @param port of the echo, on 127.0.0.1 */
  constructor(port: number) {
    this.#port = port;
    this.#beat.start();
  }

  get lateness(): LatenessFigures {
    return this.#beat.lateness;
  }

  async resize(count: number): Promise<void> {
    await Promise.all(this.#flows.splice(count).map((flow) => this.#end(flow)));
    while (this.#flows.length < count) {
      const socket = createSocket("udp4");
      socket.on("message", () => this.#received++);
      await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
      await new Promise<void>((resolve) => socket.connect(this.#port, "127.0.0.1", resolve));
      const packet = new Uint8Array(RTP_BYTES);
      packet[0] = 0x80;
      const send = (): void => {
        packet[3] = packet[3]! + 1;
        if (packet[3] === 0) packet[2] = packet[2]! + 1;
        socket.send(packet);
        this.#sent++;
      };
      this.#beat.add(send);
      this.#flows.push({ socket, send });
    }
  }

  begin(): void {
    this.#beat.lateness.reset();
    this.#sent = 0;
    this.#received = 0;
  }

  counts(): TrialCounts {
    return { sent: this.#sent, received: this.#received, underruns: 0 };
  }

  async close(): Promise<void> {
    this.#beat.stop();
    await this.resize(0);
  }

  #end({ socket, send }: { readonly socket: Socket; readonly send: () => void }): Promise<void> {
    this.#beat.remove(send);
    return new Promise((resolve) => socket.close(() => resolve()));
  }
}
