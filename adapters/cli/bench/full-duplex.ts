import type { LatenessFigures } from "../../../src/audio/playout/lateness.ts";
import { pcmToBytes } from "../../../src/audio/samples/pcm.ts";
import { tone } from "../../../src/audio/tones/tone.ts";
import { type AudioSocket, message, openAudioSocket } from "./audio-socket.ts";
import { Beat } from "./beat.ts";

/** 20 ms of PCM at 16 kHz, as a message: eight whole periods, so that messages join without a step. */
export const TONE_MESSAGE: Buffer = message(pcmToBytes(tone(400, 20, 16_000, 8_000)));

/** Clients that each send 20 ms of PCM every 20 ms and count the returned audio. */
export class FullDuplex {
  /** Audio messages since `begin`. */
  sent = 0;
  received = 0;
  /** Number of connected clients. */
  connectedCount = 0;
  readonly #beat = new Beat();
  readonly #sockets: AudioSocket[] = [];

  /** Delays of messages passed to their sockets, since `begin`. */
  get lateness(): LatenessFigures {
    return this.#beat.lateness;
  }

  constructor() {
    this.#beat.start();
  }

  /** Connects to each address and starts sending. */
  async open(urls: readonly string[]): Promise<void> {
    await Promise.all(urls.map((url) => this.#open(url)));
  }

  /** Starts counting. */
  begin(): void {
    this.sent = 0;
    this.received = 0;
    this.#beat.lateness.reset();
  }

  async close(): Promise<void> {
    this.#beat.stop();
    await Promise.all(this.#sockets.map((socket) => socket.close()));
  }

  async #open(url: string): Promise<void> {
    const send = (): void => {
      socket.write(TONE_MESSAGE);
      this.sent++;
    };
    const socket = await openAudioSocket(url, {
      audio: () => void this.received++,
      closed: () => {
        this.connectedCount--;
        this.#beat.remove(send);
      },
    });
    this.connectedCount++;
    this.#sockets.push(socket);
    this.#beat.add(send);
  }
}
