import { msToSamples, samplesToMs } from "../samples/pcm.ts";
import { VAD_HANG_OVER_MS } from "./vad.ts";

/** A stretch of speech, in whole milliseconds since the first sample. */
export interface SpeechSegment {
  readonly startMs: number;
  readonly endMs: number;
}

/** Options of {@link SpeechSegmenter}. */
export interface SpeechSegmenterOptions {
  /** Sample rate, Hz. */
  readonly sampleRate: number;
  /** Minimum length of the voice in a segment, ms; a shorter segment is noise and is not reported. Default: 100. */
  readonly minSpeechMs?: number;
  /** Minimum pause that ends a segment, ms. Default: 300. */
  readonly joinGapMs?: number;
  /** The VAD's hang-over after the last voice, ms, which is subtracted from the segments. Default: that of `Vad`. */
  readonly hangOverMs?: number;
}

/** Turns the decisions of a VAD into segments of speech, by counting samples. */
export class SpeechSegmenter {
  readonly #sampleRate: number;
  readonly #minSpeech: number;
  readonly #joinGap: number;
  readonly #hangOver: number;
  readonly #onSegment: (segment: SpeechSegment) => void;
  #now = 0;
  /** Start of the current run of speech; undefined in a pause. */
  #runStart: number | undefined;
  /** Start of the open segment; undefined if none is open. */
  #start: number | undefined;
  #end = 0;
  #voicedSamples = 0;

  /** @param onSegment called with each segment once it has certainly ended */
  constructor(options: SpeechSegmenterOptions, onSegment: (segment: SpeechSegment) => void) {
    const { sampleRate, minSpeechMs = 100, joinGapMs = 300, hangOverMs = VAD_HANG_OVER_MS } = options;
    this.#sampleRate = sampleRate;
    this.#minSpeech = msToSamples(minSpeechMs, sampleRate);
    this.#joinGap = msToSamples(joinGapMs, sampleRate);
    this.#hangOver = msToSamples(hangOverMs, sampleRate);
    this.#onSegment = onSegment;
  }

  /** Adds the decision about the next `samples` samples. */
  push(isSpeech: boolean, samples: number): void {
    if (isSpeech) {
      this.#runStart ??= this.#now;
      this.#start ??= this.#runStart;
    } else this.#endRun(this.#now - this.#hangOver);
    this.#now += samples;
    if (this.#runStart === undefined && this.#now - this.#end >= this.#joinGap) this.#close();
  }

  /** Ends the audio, and reports the segment that is still open, if any. */
  finish(): void {
    this.#endRun(this.#now);
    this.#close();
  }

  #endRun(end: number): void {
    if (this.#runStart === undefined) return;
    this.#end = Math.max(end, this.#runStart);
    this.#voicedSamples += this.#end - this.#runStart;
    this.#runStart = undefined;
  }

  #close(): void {
    if (this.#start === undefined) return;
    const segment = { startMs: this.#ms(this.#start), endMs: this.#ms(this.#end) };
    const isLongEnough = this.#voicedSamples >= this.#minSpeech;
    this.#start = undefined;
    this.#voicedSamples = 0;
    if (isLongEnough) this.#onSegment(segment);
  }

  #ms(samples: number): number {
    return Math.round(samplesToMs(samples, this.#sampleRate));
  }
}
