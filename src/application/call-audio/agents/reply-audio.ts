import { msToSamples, samplesToMs } from "../../../audio/pcm.ts";
import type { Playout } from "../../../audio/playout.ts";
import { heardWords } from "../../../domain/heard-words.ts";
import type { HeardItem } from "../../../ports/audio-conversation.ts";
import type { SpokenLine } from "./utterance.ts";

/** Items that have ended or were cut, whose late audio is dropped. */
const MOST_CLOSED = 100;

/** One item of an agent's audio on its way to the callee. */
interface Item {
  readonly id: string;
  text: string;
  /** Its audio so far at the leg's rate, and whether that is all. */
  readonly pieces: Int16Array[];
  samples: number;
  complete: boolean;
  /** When its first sample was played, ms since the answer; undefined before. */
  startMs: number | undefined;
  /** Signal of the playout when it was begun, or continued, ms; undefined before. */
  heardBefore: number | undefined;
  /** What was heard of it before it was held, ms. */
  heardMs: number;
}

/**
 * Plays the audio that an agent produces, item by item, stops if the callee interrupts, and knows how much of each item was
 * heard. Keeps what was not heard, so that it can go on after a false interruption.
 */
export class ReplyAudio {
  readonly #playout: Playout;
  readonly #spoken: (line: SpokenLine) => void;
  /** Items that have not been played to their end, the next one first. */
  readonly #items: Item[] = [];
  readonly #closed = new Set<string>();
  #held = false;

  /** @param spoken receives each item once it has been played, or was interrupted */
  constructor(playout: Playout, spoken: (line: SpokenLine) => void) {
    this.#playout = playout;
    this.#spoken = spoken;
  }

  /** Whether an item has not been played to its end. */
  get speaks(): boolean {
    return this.#items.length > 0;
  }

  /** Whether the callee hears the agent. */
  get isHeard(): boolean {
    return !this.#held && this.#items[0]?.startMs !== undefined;
  }

  get held(): boolean {
    return this.#held;
  }

  /** Audio that has not been heard, ms. */
  get queuedMs(): number {
    const samples = this.#items.reduce((sum, item) => sum + item.samples, 0);
    const [first] = this.#items;
    return samplesToMs(samples, this.#playout.sampleRate) - (first === undefined ? 0 : this.#heardOf(first));
  }

  /** Whether more of an item is played: it has neither ended, nor was it cut. */
  takes(id: string): boolean {
    return !this.#closed.has(id);
  }

  /** Adds audio to an item; dropped if the item was cut. Do not write to the array afterwards. */
  add(id: string, samples: Int16Array): void {
    if (!this.takes(id) || samples.length === 0) return;
    const item = this.#item(id);
    item.pieces.push(samples);
    item.samples += samples.length;
    if (!this.#held) this.#playout.enqueue(samples);
  }

  /** Sets the words of an item. */
  words(id: string, text: string): void {
    if (this.takes(id)) this.#item(id).text = text;
  }

  /** All audio of an item has been added. */
  end(id: string): void {
    const item = this.#items.find((one) => one.id === id);
    if (item === undefined || item.complete) return;
    item.complete = true;
    this.#close(id);
    if (!this.#held) this.#markEnd(item);
  }

  /** Stops at once, and keeps what was not heard for {@link release}. */
  hold(): void {
    if (this.#held) return;
    this.#held = true;
    this.#playout.clear(); // a leg that pulls ahead reports now what it has sent
    for (const item of this.#items) {
      item.heardMs = this.#heardOf(item);
      item.heardBefore = undefined;
    }
  }

  /** Goes on after {@link hold}. */
  release(): void {
    if (!this.#held) return;
    this.#held = false;
    for (const item of this.#items) {
      this.#markStart(item);
      let skip = msToSamples(item.heardMs, this.#playout.sampleRate);
      for (const piece of item.pieces) {
        if (skip < piece.length) this.#playout.enqueue(skip > 0 ? piece.subarray(skip) : piece);
        skip = Math.max(0, skip - piece.length);
      }
      if (item.complete) this.#markEnd(item);
    }
  }

  /** Drops what was not heard, and what is still to come of those items; returns how much of each was heard. */
  cut(): HeardItem[] {
    this.hold();
    this.#held = false;
    return this.#items.splice(0).map((item) => {
      this.#close(item.id);
      const lengthMs = samplesToMs(item.samples, this.#playout.sampleRate);
      const heardMs = Math.min(item.heardMs, Math.floor(lengthMs));
      const text = heardWords(item.text, heardMs, item.complete ? lengthMs : undefined);
      this.#report(item, text);
      return { item: item.id, heardMs, text };
    });
  }

  #item(id: string): Item {
    const found = this.#items.find((one) => one.id === id);
    if (found !== undefined) return found;
    const item: Item = {
      id,
      text: "",
      pieces: [],
      samples: 0,
      complete: false,
      startMs: undefined,
      heardBefore: undefined,
      heardMs: 0,
    };
    this.#items.push(item);
    if (!this.#held) this.#markStart(item);
    return item;
  }

  #markStart(item: Item): void {
    const playout = this.#playout;
    playout.mark("", () => {
      item.startMs ??= playout.clockMs;
      item.heardBefore = playout.heardMs;
    });
  }

  #markEnd(item: Item): void {
    this.#playout.mark("", () => {
      this.#items.splice(this.#items.indexOf(item), 1);
      this.#report(item, item.text);
    });
  }

  #heardOf({ heardBefore, heardMs }: Item): number {
    return heardBefore === undefined ? heardMs : heardMs + this.#playout.heardMs - heardBefore;
  }

  #close(id: string): void {
    this.#closed.add(id);
    for (const oldest of this.#closed) {
      if (this.#closed.size <= MOST_CLOSED) break;
      this.#closed.delete(oldest);
    }
  }

  #report({ startMs, samples }: Item, heard: string): void {
    const text = heard.trim();
    if (startMs !== undefined && samples > 0 && text !== "")
      this.#spoken({ text, startMs, endMs: this.#playout.clockMs });
  }
}
