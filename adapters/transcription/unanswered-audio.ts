import { msToSamples, samplesToMs } from "../../src/audio/pcm.ts";

/** How much goes to an engine at a time, ms. */
const PIECE_MS = 80;

/** A stretch of time, ms since the answer of the call. */
export interface Stretch {
  readonly startMs: number;
  readonly endMs: number;
}

/** What is to be sent: audio, or that a turn is over. */
export type Outgoing = Stretch &
  (
    | { readonly kind: "audio"; readonly samples: Int16Array /** The first of its turn. */; readonly first: boolean }
    /** Of the whole turn. */
    | { readonly kind: "commit" }
  );

/**
 * What an engine has not answered yet: what waits to be sent and, in case the connection breaks, what was sent on it.
 * Holds the newest `keepMs` of it.
 */
export class UnansweredAudio {
  /** What was dropped before it could be sent, in all, ms. */
  droppedMs = 0;
  readonly #keepMs: number;
  readonly #sampleRate: number;
  readonly #items: Outgoing[] = [];
  #heldMs = 0;
  /** The first item that was not sent on this connection. */
  #next = 0;
  /** What does not fill a piece yet. */
  #piece: Int16Array;
  #filled = 0;
  #pieceMs = 0;
  /** Where the turn began that is not over. */
  #turnMs: number | undefined;

  constructor(sampleRate: number, keepMs: number) {
    this.#sampleRate = sampleRate;
    this.#keepMs = keepMs;
    this.#piece = new Int16Array(msToSamples(PIECE_MS, sampleRate));
  }

  /** The array is not kept. */
  push(samples: Int16Array, atMs: number): void {
    for (let from = 0; from < samples.length; ) {
      if (this.#filled === 0) this.#pieceMs = atMs + samplesToMs(from, this.#sampleRate);
      const take = Math.min(samples.length - from, this.#piece.length - this.#filled);
      for (let i = 0; i < take; i++) this.#piece[this.#filled + i] = samples[from + i]!;
      this.#filled += take;
      from += take;
      if (this.#filled === this.#piece.length) this.flush();
    }
  }

  /** A turn is over; without audio there was none. */
  commit(): void {
    this.flush();
    if (this.#turnMs === undefined) return;
    const endMs = this.#items.at(-1)?.endMs ?? this.#turnMs;
    this.#add({ kind: "commit", startMs: this.#turnMs, endMs });
    this.#turnMs = undefined;
  }

  /** What does not fill a piece is sent all the same. */
  flush(): void {
    if (this.#filled === 0) return;
    const samples = this.#piece.slice(0, this.#filled);
    const startMs = this.#pieceMs;
    const endMs = startMs + samplesToMs(samples.length, this.#sampleRate);
    this.#filled = 0;
    const first = this.#turnMs === undefined;
    this.#turnMs ??= startMs;
    this.#add({ kind: "audio", samples, startMs, endMs, first });
  }

  /** What is to be sent next on this connection; it then counts as sent. */
  take(): Outgoing | undefined {
    const item = this.#items[this.#next];
    if (item) this.#next++;
    return item;
  }

  /** The connection is lost: all of it is to be sent again. */
  rewind(): void {
    this.#next = 0;
  }

  /** The engine has answered everything from one time to another; it is not sent again. */
  answered({ startMs, endMs }: Stretch): void {
    for (let at = 0; at < this.#items.length; ) {
      const item = this.#items[at]!;
      if (item.startMs >= startMs && item.endMs <= endMs && at < this.#next) this.#remove(at);
      else at++;
    }
  }

  /** How many turns are over and not answered. */
  get turns(): number {
    return this.#items.reduce((count, { kind }) => count + Number(kind === "commit"), 0);
  }

  /** Whether there is nothing. */
  get empty(): boolean {
    return this.#items.length === 0;
  }

  #add(item: Outgoing): void {
    this.#items.push(item);
    this.#heldMs += lengthOf(item);
    while (this.#heldMs > this.#keepMs && this.#items.length > 1) {
      if (this.#next === 0) this.droppedMs += lengthOf(this.#items[0]!);
      this.#remove(0);
    }
  }

  #remove(at: number): void {
    const [item] = this.#items.splice(at, 1);
    if (item) this.#heldMs -= lengthOf(item);
    if (at < this.#next) this.#next--;
  }
}

function lengthOf(item: Outgoing): number {
  return item.kind === "audio" ? item.endMs - item.startMs : 0;
}
