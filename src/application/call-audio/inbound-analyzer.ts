import { BeepDetector } from "../../audio/beep.ts";
import { DtmfDetector } from "../../audio/dtmf.ts";
import { msToSamples } from "../../audio/pcm.ts";
import { SpeechSegmenter } from "../../audio/speech-segments.ts";
import type { FrameSink } from "../../ports/media.ts";
import type { VoiceActivity, VoiceActivityDetector } from "../../ports/voice-activity.ts";

/** What the ear reports. Called from the leg's clock: it must not wait. */
export interface InboundReports {
  /** The first frame has come. */
  firstAudio(): void;
  /** @param atMs ms since the answer */
  digit(digit: string, atMs: number): void;
  /** Speech from `startMs` to `endMs`, both since the answer. */
  speech(startMs: number, endMs: number): void;
  /** A voicemail box has beeped. @param atMs when it began, ms since the answer */
  beep(hz: number, atMs: number): void;
}

/** How it listens. */
export interface EarOptions {
  /** Hz. */
  readonly sampleRate: number;
  /** Whether to listen for keys in the audio at the moment; never while the adapter reports them, or they count twice. */
  readonly inBandDtmf: () => boolean;
  readonly voiceActivity: VoiceActivity;
}

/** The voice detector only tells loud from quiet, and goes on a little: this long after a key or a beep nothing is speech, ms. */
const AFTER_TONE_MS = 200;
/** A tone that has lasted this long is no voice, and one that has lasted so long is a beep, ms. */
const TONE_MS = 80;
const BEEP_MS = 140;

/** Listens to the callee on the leg's own sample clock, from the answer on: keys pressed, stretches of speech, beeps. */
export class InboundAnalyzer implements FrameSink {
  /** Frames that have come so far. */
  frames = 0;
  readonly #reports: InboundReports;
  readonly #sampleRate: number;
  readonly #voice: VoiceActivityDetector;
  readonly #segments: SpeechSegmenter;
  readonly #inBandDtmf: () => boolean;
  /** Made when it is needed first. */
  #dtmf: DtmfDetector | undefined;
  readonly #beep: BeepDetector;
  readonly #afterTone: number;
  /** Samples that still belong to a key or a beep. */
  #ofTone = 0;

  constructor({ sampleRate, inBandDtmf, voiceActivity }: EarOptions, reports: InboundReports) {
    this.#reports = reports;
    this.#voice = voiceActivity(sampleRate);
    this.#afterTone = msToSamples(AFTER_TONE_MS, sampleRate);
    const { hangOverMs = 0 } = this.#voice;
    this.#segments = new SpeechSegmenter({ sampleRate, hangOverMs }, ({ startMs, endMs }) =>
      reports.speech(startMs, endMs),
    );
    this.#sampleRate = sampleRate;
    this.#inBandDtmf = inBandDtmf;
    this.#beep = new BeepDetector(sampleRate, (hz, atMs) => reports.beep(hz, atMs));
  }

  write(frame: Int16Array): void {
    if (this.frames++ === 0) this.#reports.firstAudio();
    const dtmf = this.#inBandDtmf() ? this.#detector : undefined;
    dtmf?.push(frame);
    this.#beep.push(frame);
    const { toneMs } = this.#beep;
    if (dtmf?.sounding || toneMs >= BEEP_MS) this.#ofTone = this.#afterTone;
    const voiced = this.#voice.push(frame);
    this.#segments.push(voiced && this.#ofTone <= 0 && toneMs < TONE_MS, frame.length);
    this.#ofTone -= frame.length;
  }

  get #detector(): DtmfDetector {
    this.#dtmf ??= new DtmfDetector(this.#sampleRate, (digit, atMs) => this.#reports.digit(digit, atMs));
    return this.#dtmf;
  }

  /** Reports speech that was still going on. */
  finish(): void {
    this.#segments.finish();
  }
}
