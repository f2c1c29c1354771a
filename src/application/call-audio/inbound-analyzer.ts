import { msToSamples, samplesToMs } from "../../audio/samples/pcm.ts";
import { DtmfDetector } from "../../audio/tones/dtmf.ts";
import { ToneDetector } from "../../audio/tones/tone-detector.ts";
import { SpeechSegmenter } from "../../audio/voice/speech-segments.ts";
import type { ToneFinding } from "../../domain/tones/line-tones.ts";
import { ToneClassifier } from "../../domain/tones/tone-classifier.ts";
import { SAMPLE } from "../../ports/media.ts";
import type { VoiceActivity, VoiceActivityDetector } from "../../ports/voice-activity.ts";
import type { CallTap } from "./call-tap.ts";

/** Callbacks of an {@link InboundAnalyzer}. They run on the leg's clock and must not wait. */
export interface InboundReports {
  /** Called when the first sample has been received. */
  onFirstAudio(): void;
  /** @param atMs ms since the answer */
  onDigit(digit: string, atMs: number): void;
  /** Called with speech from `startMs` to `endMs`, both since the answer. */
  onSpeech(startMs: number, endMs: number): void;
  /** Called when a voicemail box has beeped. @param atMs start of the beep, ms since the answer */
  onBeep(hz: number, atMs: number): void;
  /** Called with a known tone of a network or a machine. */
  onLineTone(finding: ToneFinding): void;
  /** Called when a sound has become a possible key or beep, or has been ruled out. */
  onSuspicionChange(isSuspicious: boolean): void;
}

/** Options of an {@link InboundAnalyzer}. */
export interface InboundAnalyzerOptions {
  /** Sample rate, Hz. */
  readonly sampleRate: number;
  /**
   * True while keys are detected in the audio; false while the adapter reports them, so that no key is reported twice.
   */
  readonly inBandDtmf: () => boolean;
  readonly voiceActivity: VoiceActivity;
}

/**
 * Time after a key or a beep during which sound is not treated as speech, ms: the voice detector only separates loud
 * from quiet, and lingers a little.
 */
const AFTER_TONE_MS = 200;
/** Length from which a steady tone is not voice, ms. */
const TONE_MS = 80;
/** Length from which a steady tone is a beep, ms. */
const BEEP_MS = 140;
/** Length of voice after which a tone may be the beep after a greeting, ms. */
const MIN_GREETING_MS = 500;

/**
 * Detects keys, speech and beeps in the callee's audio, from the answer on, using the leg's own sample clock. It uses
 * only received samples: a gap extends speech by the detector's hang-over and bridges a tone, but starts neither.
 */
export class InboundAnalyzer implements CallTap {
  /** Number of frames so far with received samples. */
  frames = 0;
  /** True if the latest frame contains speech. */
  isSpeech = false;
  /** True for voiced frames, false for hang-over. */
  isVoiced = false;
  /** Hang-over of speech: time reported as speech after the last voiced sound, ms. */
  readonly hangOverMs: number;
  readonly #reports: InboundReports;
  readonly #sampleRate: number;
  readonly #voice: VoiceActivityDetector;
  readonly #segments: SpeechSegmenter;
  readonly #inBandDtmf: () => boolean;
  /** Created when first needed: many calls are never answered. */
  #dtmf: DtmfDetector | undefined;
  #tones: ToneDetector | undefined;
  readonly #classifier: ToneClassifier;
  #isSuspicious = false;
  /** Number of samples with voice so far. */
  #voicedSamples = 0;
  /** Number of samples with voice from which a tone may be the beep after a greeting. */
  readonly #minGreetingSamples: number;
  readonly #afterToneSamples: number;
  /** Number of samples that still belong to a key or a beep. */
  #toneSamples = 0;
  /** True if the voice detector last decided that there is speech. */
  #isSpeech = false;

  constructor({ sampleRate, inBandDtmf, voiceActivity }: InboundAnalyzerOptions, reports: InboundReports) {
    this.#reports = reports;
    this.#voice = voiceActivity(sampleRate);
    this.#afterToneSamples = msToSamples(AFTER_TONE_MS, sampleRate);
    const { hangOverMs = 0 } = this.#voice;
    this.hangOverMs = hangOverMs;
    this.#segments = new SpeechSegmenter({ sampleRate, hangOverMs }, ({ startMs, endMs }) =>
      reports.onSpeech(startMs, endMs),
    );
    this.#sampleRate = sampleRate;
    this.#inBandDtmf = inBandDtmf;
    this.#classifier = new ToneClassifier({
      onBeep: (hz, atMs) => reports.onBeep(hz, atMs),
      onTone: (finding) => reports.onLineTone(finding),
    });
    this.#minGreetingSamples = msToSamples(MIN_GREETING_MS, sampleRate);
  }

  inbound(frame: Int16Array, received: Int16Array = frame, marks?: Uint8Array): void {
    const count = receivedCount(received.length, marks);
    const isReceived = count > 0;
    if (isReceived && this.frames++ === 0) this.#reports.onFirstAudio();
    const dtmf = this.#inBandDtmf() ? this.#detector : undefined;
    dtmf?.push(received, marks);
    const tones = this.#toneDetector;
    tones.push(tones.toneMs > 0 ? frame : received, count); // a gap does not end a tone
    const { toneMs } = tones;
    this.#classify(tones, samplesToMs(received.length, this.#sampleRate));
    if (dtmf?.isSounding || toneMs >= BEEP_MS) this.#toneSamples = this.#afterToneSamples;
    // A gap without speech is not background noise.
    const isSpeech = (isReceived || this.#isSpeech) && this.#voice.push(received);
    this.#isSpeech = isSpeech;
    this.isSpeech = isSpeech && this.#toneSamples <= 0 && toneMs < TONE_MS;
    this.isVoiced = this.isSpeech && (this.#voice.isVoiced ?? true);
    if (this.isVoiced) this.#voicedSamples += received.length;
    this.#segments.push(this.isSpeech, received.length);
    this.#toneSamples -= received.length;
  }

  #classify({ hz, otherHz, toneMs, receivedMs }: ToneDetector, ms: number): void {
    this.#classifier.addFrame(hz, otherHz, toneMs, ms, receivedMs);
    if (this.#classifier.isSuspicious === this.#isSuspicious) return;
    this.#isSuspicious = !this.#isSuspicious;
    this.#reports.onSuspicionChange(this.#isSuspicious);
  }

  get #detector(): DtmfDetector {
    this.#dtmf ??= new DtmfDetector(this.#sampleRate, (digit, atMs) => this.#reports.onDigit(digit, atMs));
    return this.#dtmf;
  }

  get #toneDetector(): ToneDetector {
    this.#tones ??= new ToneDetector(this.#sampleRate, (burst) =>
      this.#classifier.addBurst(burst, this.#voicedSamples >= this.#minGreetingSamples),
    );
    return this.#tones;
  }

  /** Reports speech that has not ended yet. */
  finish(): void {
    this.#segments.finish();
  }
}

/** Number of samples of a frame that were received. */
function receivedCount(length: number, marks: Uint8Array | undefined): number {
  if (marks === undefined) return length;
  let count = 0;
  for (let i = 0; i < length; i++) if (marks[i] !== SAMPLE.filledIn) count++;
  return count;
}
