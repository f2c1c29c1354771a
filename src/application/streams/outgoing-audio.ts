import type { Playout } from "../../audio/playout.ts";
import { Resampler } from "../../audio/resample.ts";

/** Something that waits for the leg: samples at their own rate, or a mark. */
type Waiting =
  | { readonly samples: Int16Array; readonly sampleRate: number }
  | { readonly mark: string; readonly reached: (name: string) => void };

/**
 * What a client sends to the callee: before there is a leg it waits at its own rate, then it is resampled once, as one
 * continuous stream, into the {@link Playout}.
 */
export class OutgoingAudio {
  #playout: Playout | undefined;
  readonly #waiting: Waiting[] = [];
  #waitingMs = 0;
  #resampler: { readonly from: number; readonly stream: Resampler } | undefined;

  /** What waits to be played, ms. */
  get queuedMs(): number {
    return this.#waitingMs + (this.#playout?.queuedMs ?? 0);
  }

  /** Signal that was played, ms. */
  get heardMs(): number {
    return this.#playout?.heardMs ?? 0;
  }

  /** There is a leg; what waited goes to its queue. */
  connect(playout: Playout): void {
    this.#playout = playout;
    for (const item of this.#waiting.splice(0)) {
      if ("mark" in item) this.mark(item.mark, item.reached);
      else this.write(item.samples, item.sampleRate);
    }
    this.#waitingMs = 0;
  }

  /** The array is not kept. */
  write(samples: Int16Array, sampleRate: number): void {
    const playout = this.#playout;
    if (playout === undefined) {
      this.#waiting.push({ samples: samples.slice(), sampleRate });
      this.#waitingMs += (samples.length * 1000) / sampleRate;
      return;
    }
    if (playout.ended) return;
    if (this.#resampler?.from !== sampleRate) {
      this.flush();
      this.#resampler = { from: sampleRate, stream: new Resampler(sampleRate, playout.sampleRate) };
    }
    const resampled = this.#resampler.stream.push(samples);
    playout.enqueue(resampled === samples ? samples.slice() : resampled);
  }

  mark(name: string, reached: (name: string) => void): void {
    if (this.#playout === undefined) this.#waiting.push({ mark: name, reached });
    else if (!this.#playout.ended) this.#playout.mark(name, reached);
  }

  /** Drops what waits, marks included. */
  clear(): void {
    this.#waiting.length = 0;
    this.#waitingMs = 0;
    this.#resampler = undefined;
    this.#playout?.clear();
  }

  /** Gives the queue what the resampler still holds: no more audio follows for now. */
  flush(): void {
    const rest = this.#resampler?.stream.flush();
    if (rest !== undefined && rest.length > 0 && this.#playout?.ended === false) this.#playout.enqueue(rest);
  }
}
