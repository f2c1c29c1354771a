import { msToSamples, samplesToMs } from "../../src/audio/samples/pcm.ts";

/** Length of the audio in one message, ms. */
const PIECE_MS = 80;

/** A span of time, ms since the callee answered. */
export interface TimeSpan {
  readonly startMs: number;
  readonly endMs: number;
}

/** An item to send: audio, or the end of a turn. */
export type Outgoing = TimeSpan &
  (
    | { readonly kind: "audio"; readonly samples: Int16Array /** Opens a turn. */; readonly isFirst: boolean }
    /** Spans the whole turn. */
    | { readonly kind: "commit" }
  );

/**
 * Audio that the engine has not processed: waiting to be sent, or sent and kept for the next connection. Keeps only the
 * newest `keepMs`.
 */
export class UnprocessedAudio {
  /** Total length of the audio dropped before it was sent, ms. */
  droppedMs = 0;
  readonly #keepMs: number;
  readonly #sampleRate: number;
  readonly #items: Outgoing[] = [];
  #keptMs = 0;
  /** The index of the first item that has not been sent on this connection. */
  #nextIndex = 0;
  /** Samples of an unfinished piece. */
  #piece: Int16Array;
  #sampleCount = 0;
  #pieceMs = 0;
  /** The start of the open turn. */
  #turnMs: number | undefined;

  constructor(sampleRate: number, keepMs: number) {
    this.#sampleRate = sampleRate;
    this.#keepMs = keepMs;
    this.#piece = new Int16Array(msToSamples(PIECE_MS, sampleRate));
  }

  /** Adds samples; the array is not kept. */
  push(samples: Int16Array, atMs: number): void {
    for (let offset = 0; offset < samples.length; ) {
      if (this.#sampleCount === 0) this.#pieceMs = atMs + samplesToMs(offset, this.#sampleRate);
      const count = Math.min(samples.length - offset, this.#piece.length - this.#sampleCount);
      for (let i = 0; i < count; i++) this.#piece[this.#sampleCount + i] = samples[offset + i]!;
      this.#sampleCount += count;
      offset += count;
      if (this.#sampleCount === this.#piece.length) this.flush();
    }
  }

  /** Ends the turn, if there is one. */
  commit(): void {
    this.flush();
    if (this.#turnMs === undefined) return;
    const endMs = this.#items.at(-1)?.endMs ?? this.#turnMs;
    this.#add({ kind: "commit", startMs: this.#turnMs, endMs });
    this.#turnMs = undefined;
  }

  /** Adds the unfinished piece to the items. */
  flush(): void {
    if (this.#sampleCount === 0) return;
    const samples = this.#piece.slice(0, this.#sampleCount);
    const startMs = this.#pieceMs;
    const endMs = startMs + samplesToMs(samples.length, this.#sampleRate);
    this.#sampleCount = 0;
    const isFirst = this.#turnMs === undefined;
    this.#turnMs ??= startMs;
    this.#add({ kind: "audio", samples, startMs, endMs, isFirst });
  }

  /** Returns the next item to send on this connection, and marks it as sent. */
  take(): Outgoing | undefined {
    const item = this.#items[this.#nextIndex];
    if (item) this.#nextIndex++;
    return item;
  }

  /** Marks all items as unsent, for another connection. */
  rewind(): void {
    this.#nextIndex = 0;
  }

  /** Removes the sent items within a span: the engine has processed them. */
  markProcessed({ startMs, endMs }: TimeSpan): void {
    for (let index = 0; index < this.#items.length; ) {
      const item = this.#items[index]!;
      if (item.startMs >= startMs && item.endMs <= endMs && index < this.#nextIndex) this.#remove(index);
      else index++;
    }
  }

  /** The number of ended turns without a text. */
  get turns(): number {
    return this.#items.reduce((count, { kind }) => count + Number(kind === "commit"), 0);
  }

  /** True if there are no items. */
  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  #add(item: Outgoing): void {
    this.#items.push(item);
    this.#keptMs += lengthOf(item);
    while (this.#keptMs > this.#keepMs && this.#items.length > 1) {
      if (this.#nextIndex === 0) this.droppedMs += lengthOf(this.#items[0]!);
      this.#remove(0);
    }
  }

  #remove(index: number): void {
    const [item] = this.#items.splice(index, 1);
    if (item) this.#keptMs -= lengthOf(item);
    if (index < this.#nextIndex) this.#nextIndex--;
  }
}

function lengthOf(item: Outgoing): number {
  return item.kind === "audio" ? item.endMs - item.startMs : 0;
}
