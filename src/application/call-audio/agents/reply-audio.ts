import type { Playout } from "../../../audio/playout/playout.ts";
import type { HeardItem } from "../../../ports/audio-conversation.ts";
import { type SpokenLine, SpokenQueue, Utterance } from "./spoken-queue.ts";

/** Maximum number of ended or cut items that are remembered, to drop their late audio. */
const MAX_CLOSED_ITEMS = 100;

/**
 * The audio that an agent produces, played item by item: stops if the callee interrupts, and tracks how much was heard.
 */
export class ReplyAudio {
  readonly #playout: Playout;
  readonly #queue: SpokenQueue;
  readonly #closedIds = new Set<string>();

  /** @param onSpoken receives each item once it has been played or interrupted */
  constructor(playout: Playout, turn: { readonly isHeld: boolean }, onSpoken: (line: SpokenLine) => void) {
    this.#playout = playout;
    this.#queue = new SpokenQueue(playout, turn, {
      onStart: () => {},
      onSpoken: (line, { hasStarted, samples }) => {
        if (hasStarted && samples > 0) onSpoken(line);
      },
    });
  }

  /** True if an item has not been played to its end. */
  get isSpeaking(): boolean {
    return this.#queue.utterances.length > 0;
  }

  /** True if the callee hears the agent. */
  get hasStarted(): boolean {
    return this.#queue.hasStarted;
  }

  /** Length of the audio that has not been heard, ms. */
  get queuedMs(): number {
    const { utterances } = this.#queue;
    return utterances.reduce((sum, { lengthMs }) => sum + lengthMs, 0) - (utterances[0]?.heardMs ?? 0);
  }

  /** True while an item may still play: it has neither ended nor been cut. */
  accepts(id: string): boolean {
    return !this.#closedIds.has(id);
  }

  /** Adds audio to an item; dropped if the item was cut. Do not write to the array afterwards. */
  add(id: string, samples: Int16Array): void {
    if (this.accepts(id) && samples.length > 0) this.#queue.add(this.#item(id), samples);
  }

  /** Sets the words of an item. */
  setWords(id: string, text: string): void {
    if (this.accepts(id)) this.#item(id).text = text;
  }

  /** Marks the audio of an item as complete. */
  end(id: string): void {
    const item = this.#find(id);
    if (item === undefined || item.isRendered) return;
    item.markRendered();
    this.#close(id);
    this.#queue.end(item);
  }

  /** Stops at once, and keeps the unheard part for {@link release}. */
  hold(): void {
    this.#queue.hold();
  }

  /** Plays the unheard part. */
  release(): void {
    this.#queue.release();
  }

  /** Drops the held items, including audio that has not arrived yet; returns how much of each was heard. */
  cut(): HeardItem[] {
    return this.#queue.cut().map((item) => {
      this.#close(item.id);
      return { item: item.id, heardMs: Math.min(item.heardMs, Math.floor(item.lengthMs)), text: item.heardText };
    });
  }

  #find(id: string): Utterance | undefined {
    return this.#queue.utterances.find((item) => item.id === id);
  }

  #item(id: string): Utterance {
    const existing = this.#find(id);
    if (existing !== undefined) return existing;
    const item = new Utterance("", true, this.#playout, id);
    this.#queue.push(item);
    return item;
  }

  #close(id: string): void {
    this.#closedIds.add(id);
    for (const oldest of this.#closedIds) {
      if (this.#closedIds.size <= MAX_CLOSED_ITEMS) break;
      this.#closedIds.delete(oldest);
    }
  }
}
