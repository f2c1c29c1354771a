import { concatPcm, msToSamples } from "../../audio/pcm.ts";
import type { IncompleteReason, Recordings, RecordingWriter } from "../../ports/recordings.ts";

const FRAME_MS = 20;
/** What is in the arrays behind the samples, and everywhere after they were written: nobody may look. */
const SPOILT = -30_000;
/** Of so many different values, so that a sample which is missing or in another place is noticed. */
const VALUES = 29_989;

/** One recording that is made, and what was written to it. */
export class Take {
  readonly writer: RecordingWriter;
  readonly sampleRate: number;
  /** Why the recording was said to be incomplete, each time. */
  readonly reasons: IncompleteReason[] = [];
  readonly #left: Int16Array[] = [];
  readonly #right: Int16Array[] = [];
  #next: number;

  /** @param first takes with other ones hold other samples */
  constructor(recordings: Recordings, callId: string, sampleRate = 8_000, first = 0) {
    this.sampleRate = sampleRate;
    this.#next = first;
    this.writer = recordings.record(callId, sampleRate, (reason) => void this.reasons.push(reason));
  }

  /** What the callee heard, and said, all that was written. */
  get channels(): { left: Int16Array; right: Int16Array } {
    return { left: concatPcm(this.#left), right: concatPcm(this.#right) };
  }

  get writtenMs(): number {
    return (this.channels.left.length * 1_000) / this.sampleRate;
  }

  /** Writes so long in frames of 20 ms. */
  write(ms: number): void {
    for (let done = 0; done < ms; done += FRAME_MS) this.writeSamples(msToSamples(FRAME_MS, this.sampleRate));
  }

  /** Writes so many samples, from arrays that are longer, and are used for something else afterwards. */
  writeSamples(samples: number): void {
    const heard = new Int16Array(samples + 7).fill(SPOILT);
    const said = new Int16Array(samples + 7).fill(SPOILT);
    for (let i = 0; i < samples; i++, this.#next++) {
      heard[i] = this.#next % VALUES;
      said[i] = -(this.#next % VALUES);
    }
    this.#left.push(heard.slice(0, samples));
    this.#right.push(said.slice(0, samples));
    this.writer.write(heard, said, samples);
    heard.fill(SPOILT);
    said.fill(SPOILT);
  }
}
