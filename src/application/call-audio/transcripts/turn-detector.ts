import { msToSamples, samplesToMs } from "../../../audio/samples/pcm.ts";
import { END_OF_TURN_MS } from "../../../domain/agents/end-of-turn.ts";
import type { VoiceActivity, VoiceActivityDetector } from "../../../ports/voice-activity.ts";

/** Maximum length of a turn, ms; a longer turn is cut and continues as the next turn. */
export const MAX_TURN_MS = 30_000;
/** Length of the audio before the first speech that belongs to the turn, so that its first sound is not cut off, ms. */
export const PRE_ROLL_MS = 300;

const FRAME_MS = 20;
/** Minimum length of detected speech beyond the hang-over, ms: anything shorter is a click. */
const VOICE_MS = 60;

/** Callbacks of a {@link TurnDetector}. They run on the leg's clock. */
export interface TurnCallbacks {
  /** Called with the next 20 ms of a turn; the array is reused afterwards. */
  onFrame(frame: Int16Array, atMs: number): void;
  /** Called when the turn has ended. */
  onEnd(): void;
}

/**
 * Cuts one speaker's audio into turns at the silences, using the samples' own clock. Passes on the frames of a turn as
 * they arrive, after those just before it. Allocates nothing once created.
 */
export class TurnDetector {
  readonly #callbacks: TurnCallbacks;
  readonly #detector: VoiceActivityDetector;
  readonly #sampleRate: number;
  readonly #frameLength: number;
  /** The latest frames before a turn, as a ring. */
  readonly #preRoll: readonly Int16Array[];
  /** Length of detected speech that starts a turn, ms. */
  readonly #beginMs: number;
  readonly #hangOverMs: number;
  /** Length of silence that ends the current turn, including the voice detector's own hang-over, ms. */
  #endMs: number = END_OF_TURN_MS;
  #preRollFrom = 0;
  #preRollCount = 0;
  /** Length of the latest speech before a turn, and of the latest silence within one, ms. */
  #voicedMs = 0;
  #silentMs = 0;
  #turnMs = 0;
  /** Beginning of the current turn. */
  #turnStartMs = 0;
  #isSpeaking = false;

  /** @param sampleRate sample rate of the frames, Hz */
  constructor(sampleRate: number, voiceActivity: VoiceActivity, callbacks: TurnCallbacks) {
    this.#callbacks = callbacks;
    this.#detector = voiceActivity(sampleRate);
    this.#sampleRate = sampleRate;
    this.#frameLength = msToSamples(FRAME_MS, sampleRate);
    const { hangOverMs = 0 } = this.#detector;
    this.#beginMs = hangOverMs + VOICE_MS;
    this.#hangOverMs = hangOverMs;
    const frames = Math.ceil((PRE_ROLL_MS + this.#beginMs) / FRAME_MS);
    this.#preRoll = Array.from({ length: frames }, () => new Int16Array(this.#frameLength));
  }

  /** Adds the next 20 ms, from the audio time `atMs` on. */
  push(frame: Int16Array, atMs: number): void {
    const isVoice = this.#detector.push(frame);
    if (this.#isSpeaking) this.#continue(frame, atMs, isVoice);
    else this.#wait(frame, atMs, isVoice);
  }

  /**
   * Ends the current turn only after this much silence, ms.
   * @param startMs start of the turn; undefined for the current turn
   */
  endAfter(silenceMs: number, startMs: number | undefined): void {
    if (this.#isSpeaking && (startMs ?? this.#turnStartMs) >= this.#turnStartMs) this.#endMs = silenceMs;
  }

  /** Ends the current turn with the audio. */
  finish(): void {
    if (this.#isSpeaking) this.#end();
  }

  #wait(frame: Int16Array, atMs: number, isVoice: boolean): void {
    const next = (this.#preRollFrom + this.#preRollCount) % this.#preRoll.length;
    this.#preRoll[next]!.set(frame);
    if (this.#preRollCount < this.#preRoll.length) this.#preRollCount++;
    else this.#preRollFrom = (this.#preRollFrom + 1) % this.#preRoll.length;
    this.#voicedMs = isVoice ? this.#voicedMs + FRAME_MS : 0;
    if (this.#voicedMs < this.#beginMs) return;
    this.#isSpeaking = true;
    this.#endMs = END_OF_TURN_MS;
    this.#silentMs = 0;
    this.#turnMs = 0;
    this.#turnStartMs = atMs - this.#preRollCount * FRAME_MS;
    const frameMs = samplesToMs(this.#frameLength, this.#sampleRate);
    for (; this.#preRollCount > 0; this.#preRollCount--) {
      this.#pass(this.#preRoll[this.#preRollFrom]!, atMs - (this.#preRollCount - 1) * frameMs);
      this.#preRollFrom = (this.#preRollFrom + 1) % this.#preRoll.length;
    }
  }

  #continue(frame: Int16Array, atMs: number, isVoice: boolean): void {
    this.#pass(frame, atMs);
    this.#silentMs = isVoice ? 0 : this.#silentMs + FRAME_MS;
    if (this.#silentMs >= Math.max(FRAME_MS, this.#endMs - this.#hangOverMs)) this.#end();
    else if (this.#turnMs >= MAX_TURN_MS) {
      this.#turnMs = 0;
      this.#callbacks.onEnd();
    }
  }

  #pass(frame: Int16Array, atMs: number): void {
    this.#turnMs += FRAME_MS;
    this.#callbacks.onFrame(frame, atMs);
  }

  #end(): void {
    this.#isSpeaking = false;
    this.#voicedMs = 0;
    this.#callbacks.onEnd();
  }
}
