import { msToSamples, samplesToMs } from "../../../audio/pcm.ts";
import { Resampler } from "../../../audio/resample.ts";
import type { Transcription, TranscriptionEvent, TranscriptionOptions } from "../../../ports/transcription.ts";
import type { VoiceActivity } from "../../../ports/voice-activity.ts";
import { SessionAudio } from "./session-audio.ts";
import { TurnDetector } from "./turn-detector.ts";

const FRAME_MS = 20;

/**
 * Listens to one speaker of a call for an engine: cuts the audio into frames of 20 ms, finds the turns where the engine
 * does not, and changes the rate once, of what the engine gets only. Works on the leg's clock and never waits.
 */
export class TranscriptionFeed {
  readonly #legRate: number;
  readonly #frame: Int16Array;
  #filled = 0;
  /** Samples since the answer, at the leg's rate. */
  #heard = 0;
  readonly #turns: TurnDetector | undefined;
  readonly #audio: SessionAudio;
  readonly #resampler: Resampler | undefined;
  readonly #resampled: Int16Array;
  readonly #rate: number;
  /** Where the stretch that is being resampled began, and how much of it has come out. */
  #stretchMs: number | undefined;
  #produced = 0;

  /** @param told gets what the engine says */
  constructor(
    engine: Transcription,
    options: Omit<TranscriptionOptions, "sampleRate">,
    legRate: number,
    voiceActivity: VoiceActivity,
    told: (event: TranscriptionEvent) => void,
  ) {
    this.#legRate = legRate;
    this.#rate = rateFor(legRate, engine.capabilities.sampleRates);
    this.#frame = new Int16Array(msToSamples(FRAME_MS, legRate));
    this.#resampler = this.#rate === legRate ? undefined : new Resampler(legRate, this.#rate);
    this.#resampled = new Int16Array(msToSamples(FRAME_MS, this.#rate) + 2);
    this.#audio = new SessionAudio(engine, { ...options, sampleRate: this.#rate }, told);
    if (!engine.capabilities.endOfTurn)
      this.#turns = new TurnDetector(legRate, voiceActivity, {
        spoken: (frame, atMs) => this.#pass(frame, atMs),
        ended: () => this.#endStretch(),
      });
  }

  /** The call is answered: the engine is asked to listen. */
  start(): void {
    this.#audio.open();
  }

  /** How much was heard since the answer, ms. */
  get clockMs(): number {
    return samplesToMs(this.#heard, this.#legRate);
  }

  /** The next samples at the leg's rate, of any number; without samples, that much silence. */
  hear(samples: Int16Array | undefined, from: number, length: number): void {
    const frame = this.#frame;
    for (let done = 0; done < length; ) {
      const take = Math.min(length - done, frame.length - this.#filled);
      if (samples === undefined) frame.fill(0, this.#filled, this.#filled + take);
      else for (let i = 0; i < take; i++) frame[this.#filled + i] = samples[from + done + i]!;
      this.#filled += take;
      done += take;
      if (this.#filled < frame.length) continue;
      const atMs = this.clockMs;
      this.#heard += frame.length;
      this.#filled = 0;
      if (this.#turns) this.#turns.push(frame, atMs);
      else this.#pass(frame, atMs);
    }
  }

  /** Nothing more is heard; resolves when the engine has answered what it got, or has been given up. Twice is fine. */
  async finish(): Promise<void> {
    this.#turns?.finish();
    await this.#audio.finish();
  }

  #pass(frame: Int16Array, atMs: number): void {
    const resampler = this.#resampler;
    if (resampler === undefined) {
      this.#audio.push(frame, atMs);
      return;
    }
    this.#stretchMs ??= atMs;
    const count = resampler.pushInto(frame, this.#resampled);
    this.#push(this.#resampled.subarray(0, count));
  }

  #endStretch(): void {
    if (this.#resampler !== undefined && this.#stretchMs !== undefined) this.#push(this.#resampler.flush());
    this.#stretchMs = undefined;
    this.#produced = 0;
    this.#audio.commit();
  }

  #push(samples: Int16Array): void {
    if (samples.length === 0) return;
    this.#audio.push(samples, (this.#stretchMs ?? 0) + samplesToMs(this.#produced, this.#rate));
    this.#produced += samples.length;
  }
}

/** The leg's own rate where the engine takes it, else the lowest that loses nothing, else its best. */
function rateFor(legRate: number, rates: readonly number[]): number {
  if (rates.includes(legRate)) return legRate;
  const higher = rates.filter((rate) => rate > legRate);
  return higher.length > 0 ? Math.min(...higher) : (rates[0] ?? legRate);
}
