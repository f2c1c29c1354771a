import type { Playout } from "../../../audio/playout/playout.ts";
import type { PlayoutMark } from "../../../audio/playout/playout-queue.ts";
import { samplesToMs } from "../../../audio/samples/pcm.ts";
import { Resampler } from "../../../audio/samples/resample.ts";

/** Maximum length of a piece that is resampled at a time, samples: a little over 20 ms at 48 kHz. */
export const MAX_RESAMPLED_PIECE = 1024;

/** A mark that is not in the playout yet, and the output sample that it precedes. */
interface PendingMark {
  readonly at: number;
  readonly mark: PlayoutMark;
}

/**
 * Resamples audio of one rate into a {@link Playout}, as one continuous stream however it was cut; marks keep their
 * position to the sample.
 *
 * A resampler holds back its last samples, 2 ms at 8 kHz, until more arrive. {@link flush} releases them when the queue
 * is about to run dry. A client that keeps pace with the leg to the sample would cause a flush between any two pieces,
 * so a stretch that starts with an empty queue is preceded by that much silence.
 */
export class ResampledPlayout {
  readonly sourceRate: number;
  readonly #playout: Playout;
  readonly #resampler: Resampler;
  readonly #output: Int16Array;
  readonly #marks: PendingMark[] = [];
  #pushedSamples = 0;
  #producedSamples = 0;

  /** @param sourceRate Hz @throws {RangeError} for a rate that cannot be converted */
  constructor(sourceRate: number, playout: Playout) {
    this.sourceRate = sourceRate;
    this.#playout = playout;
    this.#resampler = new Resampler(sourceRate, playout.sampleRate, MAX_RESAMPLED_PIECE);
    this.#output = new Int16Array(Math.ceil((MAX_RESAMPLED_PIECE * playout.sampleRate) / sourceRate) + 1);
  }

  /**
   * Adds at most {@link MAX_RESAMPLED_PIECE} samples.
   * @param isLast true if no later piece has arrived yet
   */
  push(samples: Int16Array, isLast: boolean): void {
    if (this.#pushedSamples === 0 && isLast) this.#addLeadIn();
    this.#pushedSamples += samples.length;
    this.#enqueue(this.#output, this.#resampler.pushInto(samples, this.#output));
  }

  mark(mark: PlayoutMark): void {
    const at = this.#outputLength(this.#pushedSamples);
    if (at <= this.#producedSamples) this.#playout.mark(mark.name, mark.onReached);
    else this.#marks.push({ at, mark });
  }

  /**
   * Flushes the samples that the resampler holds back, as if silence followed; the next piece starts another stretch.
   */
  flush(): void {
    if (this.#pushedSamples === 0) return;
    const samples = this.#resampler.flush();
    this.#enqueue(samples, samples.length);
    this.#pushedSamples = 0;
    this.#producedSamples = 0;
  }

  #addLeadIn(): void {
    const { sampleRate, unheardSamples } = this.#playout;
    const heldBackSamples = Math.ceil((this.#resampler.heldSamples * sampleRate) / this.sourceRate);
    if (unheardSamples < heldBackSamples)
      this.#playout.silence(samplesToMs(heldBackSamples - unheardSamples, sampleRate));
  }

  #enqueue(samples: Int16Array, count: number): void {
    let enqueuedCount = 0;
    while (this.#marks.length > 0 && this.#marks[0]!.at <= this.#producedSamples + count) {
      const { at, mark } = this.#marks.shift()!;
      const pieceLength = at - this.#producedSamples - enqueuedCount;
      this.#playout.append(samples.subarray(enqueuedCount), pieceLength);
      this.#playout.mark(mark.name, mark.onReached);
      enqueuedCount += pieceLength;
    }
    this.#playout.append(enqueuedCount === 0 ? samples : samples.subarray(enqueuedCount), count - enqueuedCount);
    this.#producedSamples += count;
  }

  #outputLength(pushedSamples: number): number {
    return Math.round((pushedSamples * this.#playout.sampleRate) / this.sourceRate);
  }
}
