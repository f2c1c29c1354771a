import type { AudioFormat } from "../../../ports/audio-conversation.ts";
import { AudioReader } from "./audio-format.ts";
import type { ReplyAudio } from "./reply-audio.ts";

/** Maximum agent audio waiting to be played, ms: models send faster than real time. */
const MAX_QUEUED_MS = 300_000;

/** Queues the audio of an agent for playback, item by item. */
export class AgentAudio {
  readonly #format: AudioFormat;
  readonly #sampleRate: number;
  readonly #audio: ReplyAudio;
  /** Reads the item that is arriving. */
  #reading: { readonly item: string; readonly reader: AudioReader } | undefined;

  /** @param sampleRate of the leg, Hz */
  constructor(format: AudioFormat, sampleRate: number, audio: ReplyAudio) {
    this.#format = format;
    this.#sampleRate = sampleRate;
    this.#audio = audio;
  }

  /** @throws if too much of it waits to be played */
  read(item: string, bytes: Uint8Array): void {
    if (this.#reading?.item !== item) {
      if (this.#reading) this.#audio.add(this.#reading.item, this.#reading.reader.finish());
      this.#reading = { item, reader: new AudioReader(this.#format, this.#sampleRate) };
    }
    this.#audio.add(item, this.#reading.reader.read(bytes));
    if (this.#audio.queuedMs <= MAX_QUEUED_MS) return;
    this.#audio.hold();
    this.#audio.cut();
    throw new Error(`the agent sent more than ${MAX_QUEUED_MS / 1_000} s of audio ahead`);
  }

  /** All of the item has arrived. */
  end(item: string): void {
    if (this.#reading?.item !== item) return;
    this.#audio.add(item, this.#reading.reader.finish());
    this.#reading = undefined;
  }

  /** The item that is arriving was interrupted. */
  drop(): void {
    this.#reading = undefined;
  }
}
