import type { PcmChunk } from "../../src/ports/media.ts";

/** Renders speech. Never called concurrently for the same key. */
export type Render = (signal: AbortSignal) => AsyncIterable<PcmChunk>;

interface Rendering {
  readonly pieces: PcmChunk[];
  bytes: number;
  state: "rendering" | "done" | "failed";
  error: unknown;
  listeners: number;
  /** Callbacks for the listeners, called after each new piece and at the end. */
  readonly wake: Set<() => void>;
  readonly stop: AbortController;
}

/**
 * Rendered speech by key, up to `maxBytes` in total. The least recently used entry is evicted first.
 *
 * Listeners for the same key share one rendering, each from its beginning. The rendering stops when the last listener
 * has left. Failed and stopped renderings are not kept.
 */
export class SpeechCache {
  readonly #maxBytes: number;
  // A Map keeps insertion order: the first entry is the least recently used.
  readonly #renderings = new Map<string, Rendering>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Size of the samples in the cache, including unfinished renderings, bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The speech for a key, from memory or from `render`. The pieces are shared: listeners must not write to them. */
  async *speech(key: string, render: Render, signal: AbortSignal): AsyncGenerator<PcmChunk, void> {
    signal.throwIfAborted();
    const rendering = this.#renderings.get(key) ?? this.#begin(key, render);
    // Makes the entry the most recently used.
    this.#renderings.delete(key);
    this.#renderings.set(key, rendering);
    rendering.listeners++;
    let wake = (): void => {};
    const wakeUp = (): void => wake();
    rendering.wake.add(wakeUp);
    signal.addEventListener("abort", wakeUp);
    try {
      for (let index = 0; ; ) {
        signal.throwIfAborted();
        const piece = rendering.pieces[index];
        if (piece) {
          index++;
          yield piece;
        } else if (rendering.state === "done") return;
        else if (rendering.state === "failed") throw rendering.error;
        else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    } finally {
      signal.removeEventListener("abort", wakeUp);
      rendering.wake.delete(wakeUp);
      rendering.listeners--;
      if (rendering.listeners === 0 && rendering.state === "rendering") {
        this.#remove(key, rendering);
        rendering.stop.abort();
      }
    }
  }

  /** Empties the cache and stops all renderings. */
  clear(): void {
    for (const [key, rendering] of this.#renderings) {
      this.#remove(key, rendering);
      rendering.stop.abort();
    }
  }

  #begin(key: string, render: Render): Rendering {
    const rendering: Rendering = {
      pieces: [],
      bytes: 0,
      state: "rendering",
      error: undefined,
      listeners: 0,
      wake: new Set(),
      stop: new AbortController(),
    };
    this.#renderings.set(key, rendering);
    void this.#fill(key, rendering, render);
    return rendering;
  }

  async #fill(key: string, rendering: Rendering, render: Render): Promise<void> {
    try {
      for await (const piece of render(rendering.stop.signal)) {
        rendering.pieces.push(piece);
        if (this.#renderings.get(key) === rendering) {
          rendering.bytes += piece.samples.byteLength;
          this.#bytes += piece.samples.byteLength;
        }
        this.#evict();
        for (const wake of rendering.wake) wake();
      }
      rendering.state = "done";
    } catch (error) {
      rendering.state = "failed";
      rendering.error = error;
      this.#remove(key, rendering);
    }
    for (const wake of rendering.wake) wake();
  }

  #remove(key: string, rendering: Rendering): void {
    if (this.#renderings.get(key) !== rendering) return;
    this.#renderings.delete(key);
    this.#bytes -= rendering.bytes;
  }

  /** Listeners to an evicted rendering still receive all of it. */
  #evict(): void {
    for (const [key, rendering] of this.#renderings) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#remove(key, rendering);
    }
  }
}
