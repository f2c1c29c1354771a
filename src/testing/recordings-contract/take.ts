import { concatPcm, msToSamples } from "../../audio/samples/pcm.ts";
import type { IncompleteReason } from "../../domain/events.ts";
import type { Recordings, RecordingWriter } from "../../ports/recordings.ts";

const FRAME_MS = 20;
/** Filler for reused arrays, beyond the samples and after their use; it must never be read. */
const FILLER = -30_000;
/** Number of distinct values, so that a missing or misplaced sample is noticed. */
const VALUES = 29_989;

/** One recording, and the samples that were written to it. */
export class Take {
  readonly writer: RecordingWriter;
  readonly sampleRate: number;
  /** The reasons that were reported for an incomplete recording. */
  readonly reasons: IncompleteReason[] = [];
  readonly #left: Int16Array[] = [];
  readonly #right: Int16Array[] = [];
  #next: number;

  /** @param first seed of the samples: takes with different values have different samples */
  constructor(recordings: Recordings, callId: string, sampleRate = 8_000, first = 0) {
    this.sampleRate = sampleRate;
    this.#next = first;
    this.writer = recordings.record(callId, sampleRate, (reason) => void this.reasons.push(reason));
  }

  /** All samples that were written: played to the callee, and received. */
  get channels(): { left: Int16Array; right: Int16Array } {
    return { left: concatPcm(this.#left), right: concatPcm(this.#right) };
  }

  get writtenMs(): number {
    return (this.channels.left.length * 1_000) / this.sampleRate;
  }

  /** Writes this length in frames of 20 ms. */
  write(ms: number): void {
    for (let frameStartMs = 0; frameStartMs < ms; frameStartMs += FRAME_MS)
      this.writeSamples(msToSamples(FRAME_MS, this.sampleRate));
  }

  /** Writes this many samples, from longer arrays that are reused afterwards. */
  writeSamples(samples: number): void {
    const leftSamples = new Int16Array(samples + 7).fill(FILLER);
    const rightSamples = new Int16Array(samples + 7).fill(FILLER);
    for (let i = 0; i < samples; i++, this.#next++) {
      leftSamples[i] = this.#next % VALUES;
      rightSamples[i] = -(this.#next % VALUES);
    }
    this.#left.push(leftSamples.slice(0, samples));
    this.#right.push(rightSamples.slice(0, samples));
    this.writer.write(leftSamples, rightSamples, samples);
    leftSamples.fill(FILLER);
    rightSamples.fill(FILLER);
  }
}
