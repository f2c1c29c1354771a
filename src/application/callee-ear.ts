import { DtmfDetector } from "../audio/dtmf.ts";
import { msToSamples } from "../audio/pcm.ts";
import { SpeechSegmenter } from "../audio/speech-segments.ts";
import { Vad } from "../audio/vad.ts";
import type { FrameSink } from "../ports/media.ts";

/** What the ear reports. Called from the leg's clock: it must not wait. */
export interface EarReports {
  /** The first frame has come. */
  firstAudio(): void;
  /** @param atMs ms since the answer */
  digit(digit: string, atMs: number): void;
  /** Speech from `startMs` to `endMs`, both since the answer. */
  speech(startMs: number, endMs: number): void;
}

/** The voice detector only tells loud from quiet, and goes on a little: this long after a key nothing is speech, ms. */
const AFTER_KEY_MS = 200;

/** Listens to the callee on the leg's own sample clock: keys pressed and stretches of speech. */
export class CalleeEar implements FrameSink {
  /** Frames that have come so far. */
  frames = 0;
  readonly #reports: EarReports;
  readonly #vad: Vad;
  readonly #segments: SpeechSegmenter;
  readonly #dtmf: DtmfDetector | undefined;
  readonly #afterKey: number;
  /** Samples that still belong to a key. */
  #ofKey = 0;

  /** @param inBandDtmf listen for keys in the audio; never where the adapter reports them, or they count twice */
  constructor(sampleRate: number, inBandDtmf: boolean, reports: EarReports) {
    this.#reports = reports;
    this.#vad = new Vad(sampleRate);
    this.#afterKey = msToSamples(AFTER_KEY_MS, sampleRate);
    this.#segments = new SpeechSegmenter({ sampleRate }, ({ startMs, endMs }) => reports.speech(startMs, endMs));
    this.#dtmf = inBandDtmf ? new DtmfDetector(sampleRate, (digit, atMs) => reports.digit(digit, atMs)) : undefined;
  }

  write(frame: Int16Array): void {
    if (this.frames++ === 0) this.#reports.firstAudio();
    this.#dtmf?.push(frame);
    if (this.#dtmf?.sounding) this.#ofKey = this.#afterKey;
    const voiced = this.#vad.push(frame);
    this.#segments.push(voiced && this.#ofKey <= 0, frame.length);
    this.#ofKey -= frame.length;
  }

  /** Reports speech that was still going on. */
  finish(): void {
    this.#segments.finish();
  }
}
