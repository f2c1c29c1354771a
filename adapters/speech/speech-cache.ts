import type { PcmChunk } from "../../src/ports/media.ts";

/** Begins to speak; called at most once for a key at any time. */
export type Render = (signal: AbortSignal) => AsyncIterable<PcmChunk>;

interface Rendering {
  readonly pieces: PcmChunk[];
  bytes: number;
  state: "speaking" | "done" | "failed";
  error: unknown;
  listeners: number;
  /** Called when there is something new, for everybody who waits. */
  readonly wake: Set<() => void>;
  readonly stop: AbortController;
}

/**
 * Rendered speech by key, the least recently used forgotten first once all together are over `maxBytes`.
 *
 * Who asks for a key while it is being spoken joins: each hears it from the beginning, and it is spoken once. It stops
 * being spoken when the last one has left. What failed or was stopped is not kept.
 */
export class SpeechCache {
  readonly #maxBytes: number;
  // A Map keeps the order of insertion: the first entry is the one used longest ago.
  readonly #renderings = new Map<string, Rendering>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes of samples kept, those being spoken included. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The speech under a key, from memory or spoken by `render`. The pieces are shared: nobody writes to them. */
  async *speech(key: string, render: Render, signal: AbortSignal): AsyncGenerator<PcmChunk, void> {
    signal.throwIfAborted();
    const rendering = this.#renderings.get(key) ?? this.#begin(key, render);
    // Used now: to the end of the line.
    this.#renderings.delete(key);
    this.#renderings.set(key, rendering);
    rendering.listeners++;
    let wake = (): void => {};
    const wakeUp = (): void => wake();
    rendering.wake.add(wakeUp);
    signal.addEventListener("abort", wakeUp);
    try {
      for (let next = 0; ; ) {
        signal.throwIfAborted();
        const piece = rendering.pieces[next];
        if (piece) {
          next++;
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
      if (rendering.listeners === 0 && rendering.state === "speaking") {
        this.#forget(key, rendering);
        rendering.stop.abort();
      }
    }
  }

  /** Forgets everything and stops what is being spoken. */
  clear(): void {
    for (const [key, rendering] of this.#renderings) {
      this.#forget(key, rendering);
      rendering.stop.abort();
    }
  }

  #begin(key: string, render: Render): Rendering {
    const rendering: Rendering = {
      pieces: [],
      bytes: 0,
      state: "speaking",
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
      this.#forget(key, rendering);
    }
    for (const wake of rendering.wake) wake();
  }

  #forget(key: string, rendering: Rendering): void {
    if (this.#renderings.get(key) !== rendering) return;
    this.#renderings.delete(key);
    this.#bytes -= rendering.bytes;
  }

  /** Those who listen to a forgotten rendering hear it to its end all the same. */
  #evict(): void {
    for (const [key, rendering] of this.#renderings) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#forget(key, rendering);
    }
  }
}
