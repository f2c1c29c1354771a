import { FrameCutter } from "../../../audio/samples/frame-cutter.ts";
import { msToSamples, samplesToMs } from "../../../audio/samples/pcm.ts";
import { Resampler } from "../../../audio/samples/resample.ts";
import type { Transcription, TranscriptionEvent, TranscriptionOptions } from "../../../ports/transcription.ts";
import type { VoiceActivity } from "../../../ports/voice-activity.ts";
import { SessionAudio } from "./session-audio.ts";
import { TurnDetector } from "./turn-detector.ts";

const FRAME_MS = 20;

/** Callbacks of a {@link TranscriptionFeed}. */
export interface TranscriptionReports {
  /** Called with each event of the engine. */
  onTranscript(event: TranscriptionEvent): void;
  /** Called when our turn detector has ended a turn, which the engine then transcribes. */
  onTurnEnd(): void;
}

/**
 * Feeds the audio of one speaker to a transcription engine: cuts it into frames of 20 ms, detects turns if the engine
 * does not, and resamples only what the engine receives. Runs on the leg's clock and never waits.
 */
export class TranscriptionFeed {
  readonly #legRate: number;
  readonly #cutter: FrameCutter;
  /** Number of samples since the answer, at the leg's rate. */
  #receivedSamples = 0;
  readonly #turns: TurnDetector | undefined;
  readonly #audio: SessionAudio;
  readonly #resampler: Resampler | undefined;
  readonly #resampled: Int16Array;
  readonly #engineRate: number;
  /** Start of the stretch that is being resampled, and the number of its samples that the engine has received. */
  #stretchStartMs: number | undefined;
  #producedSamples = 0;

  constructor(
    engine: Transcription,
    options: Omit<TranscriptionOptions, "sampleRate">,
    legRate: number,
    voiceActivity: VoiceActivity,
    reports: TranscriptionReports,
  ) {
    this.#legRate = legRate;
    this.#engineRate = rateFor(legRate, engine.capabilities.sampleRates);
    this.#cutter = new FrameCutter(msToSamples(FRAME_MS, legRate), (frame) => this.#receive(frame));
    this.#resampler = this.#engineRate === legRate ? undefined : new Resampler(legRate, this.#engineRate);
    this.#resampled = new Int16Array(msToSamples(FRAME_MS, this.#engineRate) + 2);
    this.#audio = new SessionAudio(engine, { ...options, sampleRate: this.#engineRate }, (event) =>
      reports.onTranscript(event),
    );
    if (!engine.capabilities.endOfTurn)
      this.#turns = new TurnDetector(legRate, voiceActivity, {
        onFrame: (frame, atMs) => this.#pass(frame, atMs),
        onEnd: () => {
          this.#endStretch();
          reports.onTurnEnd();
        },
      });
  }

  /** Opens a session of the engine when the call is answered. */
  start(): void {
    this.#audio.open();
  }

  /** Length of the audio since the answer, ms. */
  get clockMs(): number {
    return samplesToMs(this.#receivedSamples, this.#legRate);
  }

  /** Adds `length` samples at the leg's rate, from `from` on; without samples, that much silence. */
  push(samples: Int16Array | undefined, from: number, length: number): void {
    this.#cutter.push(samples, from, length);
  }

  /**
   * Sets the silence, ms, that ends the turn whose text began at `startMs`; no effect if the engine detects turns
   * itself.
   */
  endTurnAfter(silenceMs: number, startMs: number | undefined): void {
    this.#turns?.endAfter(silenceMs, startMs);
  }

  /** Ends the audio; resolves when the engine has finished or failed. Idempotent. */
  async finish(): Promise<void> {
    this.#turns?.finish();
    await this.#audio.finish();
  }

  #receive(frame: Int16Array): void {
    const atMs = this.clockMs;
    this.#receivedSamples += frame.length;
    if (this.#turns) this.#turns.push(frame, atMs);
    else this.#pass(frame, atMs);
  }

  #pass(frame: Int16Array, atMs: number): void {
    const resampler = this.#resampler;
    if (resampler === undefined) {
      this.#audio.push(frame, atMs);
      return;
    }
    this.#stretchStartMs ??= atMs;
    const count = resampler.pushInto(frame, this.#resampled);
    this.#send(this.#resampled.subarray(0, count));
  }

  #endStretch(): void {
    if (this.#resampler !== undefined && this.#stretchStartMs !== undefined) this.#send(this.#resampler.flush());
    this.#stretchStartMs = undefined;
    this.#producedSamples = 0;
    this.#audio.commit();
  }

  #send(samples: Int16Array): void {
    if (samples.length === 0) return;
    this.#audio.push(samples, (this.#stretchStartMs ?? 0) + samplesToMs(this.#producedSamples, this.#engineRate));
    this.#producedSamples += samples.length;
  }
}

/**
 * The leg's own rate if the engine supports it, otherwise the lowest supported rate above it, otherwise the engine's
 * best.
 */
function rateFor(legRate: number, rates: readonly number[]): number {
  if (rates.includes(legRate)) return legRate;
  const higherRates = rates.filter((rate) => rate > legRate);
  return higherRates.length > 0 ? Math.min(...higherRates) : (rates[0] ?? legRate);
}
