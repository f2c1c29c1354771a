import { BeepDetector } from "../../audio/beep.ts";
import { DtmfDetector } from "../../audio/dtmf.ts";
import { msToSamples } from "../../audio/pcm.ts";
import { SpeechSegmenter } from "../../audio/speech-segments.ts";
import { SAMPLE } from "../../ports/media.ts";
import type { VoiceActivity, VoiceActivityDetector } from "../../ports/voice-activity.ts";
import type { CallTap } from "./call-tap.ts";

/** Callbacks of an {@link InboundAnalyzer}. They run within the leg's clock and must not wait. */
export interface InboundReports {
  /** The first sample was received. */
  firstAudio(): void;
  /** @param atMs ms since the answer */
  digit(digit: string, atMs: number): void;
  /** Speech from `startMs` to `endMs`, both since the answer. */
  speech(startMs: number, endMs: number): void;
  /** A voicemail box has beeped. @param atMs when it began, ms since the answer */
  beep(hz: number, atMs: number): void;
}

/** Options of an {@link InboundAnalyzer}. */
export interface InboundAnalyzerOptions {
  /** Hz. */
  readonly sampleRate: number;
  /** Whether to detect keys in the audio right now. False while the adapter reports keys, or they would count twice. */
  readonly inBandDtmf: () => boolean;
  readonly voiceActivity: VoiceActivity;
}

/**
 * How long after a key or a beep nothing counts as speech, ms: the voice detector only separates loud from quiet, and
 * lingers a little.
 */
const AFTER_TONE_MS = 200;
/** A steady tone of this length is no voice, ms. */
const TONE_MS = 80;
/** A steady tone of this length is a beep, ms. */
const BEEP_MS = 140;

/**
 * Detects keys, speech and beeps in the callee's audio, from the answer on, by the leg's own sample clock. It uses received
 * samples only: a gap extends speech by the detector's hang-over, and begins nothing.
 */
export class InboundAnalyzer implements CallTap {
  /** Frames so far of which something was received. */
  frames = 0;
  /** Whether the latest frame contains speech. */
  speaking = false;
  /** Whether it does so itself, and does not just follow speech. */
  voiced = false;
  /** How long speech is reported after the last voice, ms. */
  readonly hangOverMs: number;
  readonly #reports: InboundReports;
  readonly #sampleRate: number;
  readonly #voice: VoiceActivityDetector;
  readonly #segments: SpeechSegmenter;
  readonly #inBandDtmf: () => boolean;
  /** Created when first needed. */
  #dtmf: DtmfDetector | undefined;
  readonly #beep: BeepDetector;
  readonly #afterTone: number;
  /** Samples that still belong to a key or a beep. */
  #ofTone = 0;
  /** The latest decision of the voice detector. */
  #speech = false;

  constructor({ sampleRate, inBandDtmf, voiceActivity }: InboundAnalyzerOptions, reports: InboundReports) {
    this.#reports = reports;
    this.#voice = voiceActivity(sampleRate);
    this.#afterTone = msToSamples(AFTER_TONE_MS, sampleRate);
    const { hangOverMs = 0 } = this.#voice;
    this.hangOverMs = hangOverMs;
    this.#segments = new SpeechSegmenter({ sampleRate, hangOverMs }, ({ startMs, endMs }) =>
      reports.speech(startMs, endMs),
    );
    this.#sampleRate = sampleRate;
    this.#inBandDtmf = inBandDtmf;
    this.#beep = new BeepDetector(sampleRate, (hz, atMs) => reports.beep(hz, atMs));
  }

  inbound(frame: Int16Array, received: Int16Array = frame, marks?: Uint8Array): void {
    const isReceived = marks === undefined || receivedAny(marks, received.length);
    if (isReceived && this.frames++ === 0) this.#reports.firstAudio();
    const dtmf = this.#inBandDtmf() ? this.#detector : undefined;
    dtmf?.push(received, marks);
    this.#beep.push(this.#beep.toneMs > 0 ? frame : received); // a gap does not end a tone
    const { toneMs } = this.#beep;
    if (dtmf?.sounding || toneMs >= BEEP_MS) this.#ofTone = this.#afterTone;
    // Without speech, a gap is not silence that the detector may measure the noise by.
    const speech = (isReceived || this.#speech) && this.#voice.push(received);
    this.#speech = speech;
    this.speaking = speech && this.#ofTone <= 0 && toneMs < TONE_MS;
    this.voiced = this.speaking && (this.#voice.voiced ?? true);
    this.#segments.push(this.speaking, received.length);
    this.#ofTone -= received.length;
  }

  get #detector(): DtmfDetector {
    this.#dtmf ??= new DtmfDetector(this.#sampleRate, (digit, atMs) => this.#reports.digit(digit, atMs));
    return this.#dtmf;
  }

  /** Reports speech that has not ended yet. */
  finish(): void {
    this.#segments.finish();
  }
}

function receivedAny(marks: Uint8Array, length: number): boolean {
  for (let i = 0; i < length; i++) if (marks[i] !== SAMPLE.filledIn) return true;
  return false;
}
