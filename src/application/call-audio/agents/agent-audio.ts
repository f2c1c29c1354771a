import type { AudioFormat } from "../../../ports/audio-conversation.ts";
import { AudioReader } from "./leg-audio-format.ts";
import type { ReplyAudio } from "./reply-audio.ts";

/** Maximum length of the agent's audio that waits to be played, ms: models send faster than real time. */
const MAX_QUEUED_MS = 300_000;

/** Queues an agent's audio for playback, item by item. */
export class AgentAudio {
  readonly #format: AudioFormat;
  readonly #sampleRate: number;
  readonly #audio: ReplyAudio;
  /** Reads the item that is arriving. */
  #currentItem: { readonly item: string; readonly reader: AudioReader } | undefined;

  /** @param sampleRate sample rate of the leg, Hz */
  constructor(format: AudioFormat, sampleRate: number, audio: ReplyAudio) {
    this.#format = format;
    this.#sampleRate = sampleRate;
    this.#audio = audio;
  }

  /** @throws if too much audio is waiting to be played */
  push(item: string, bytes: Uint8Array): void {
    if (this.#currentItem?.item !== item) {
      if (this.#currentItem) this.#audio.add(this.#currentItem.item, this.#currentItem.reader.finish());
      this.#currentItem = { item, reader: new AudioReader(this.#format, this.#sampleRate) };
    }
    this.#audio.add(item, this.#currentItem.reader.read(bytes));
    if (this.#audio.queuedMs <= MAX_QUEUED_MS) return;
    this.#audio.hold();
    this.#audio.cut();
    throw new Error(`the agent sent more than ${MAX_QUEUED_MS / 1_000} s of audio ahead`);
  }

  /** Marks an item as complete. */
  end(item: string): void {
    if (this.#currentItem?.item !== item) return;
    this.#audio.add(item, this.#currentItem.reader.finish());
    this.#currentItem = undefined;
  }

  /** Drops the item that is arriving, because it was interrupted. */
  drop(): void {
    this.#currentItem = undefined;
  }
}
