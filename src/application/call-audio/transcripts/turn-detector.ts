import { msToSamples, samplesToMs } from "../../../audio/pcm.ts";
import type { VoiceActivity, VoiceActivityDetector } from "../../../ports/voice-activity.ts";

/** Silence that ends a turn, the voice detector's own hang-over included, ms. */
export const END_OF_TURN_MS = 500;
/** A turn that is longer is cut here, and goes on as the next one, ms. */
export const LONGEST_TURN_MS = 30_000;
/** What was heard before somebody began to speak and belongs to the turn, so that no first sound is cut off, ms. */
export const PRE_ROLL_MS = 300;

const FRAME_MS = 20;
/** A detector goes on after a click for its hang-over; this much beyond that is a voice, ms. */
const VOICE_MS = 60;

/** Who is told of the turns. Called within the leg's clock. */
export interface TurnListener {
  /** The next 20 ms of a turn; the array is used again afterwards. */
  spoken(frame: Int16Array, atMs: number): void;
  /** The turn is over. */
  ended(): void;
}

/**
 * Cuts what one speaker says into turns, by the silence between them, on the samples' own clock. Frames of a turn are
 * passed on as they come, those just before it first. Allocates nothing after it was made.
 */
export class TurnDetector {
  readonly #listener: TurnListener;
  readonly #detector: VoiceActivityDetector;
  readonly #sampleRate: number;
  readonly #frameLength: number;
  /** The last frames before a turn, a ring. */
  readonly #held: readonly Int16Array[];
  /** How long the detector says voice until there was one; and none, after the last, until the turn is over. */
  readonly #beginMs: number;
  readonly #endMs: number;
  #heldFrom = 0;
  #heldCount = 0;
  /** How long there was voice without a break, before a turn; and none, within one. */
  #voicedMs = 0;
  #silentMs = 0;
  #turnMs = 0;
  #speaking = false;

  /** @param sampleRate of the frames, Hz */
  constructor(sampleRate: number, voiceActivity: VoiceActivity, listener: TurnListener) {
    this.#listener = listener;
    this.#detector = voiceActivity(sampleRate);
    this.#sampleRate = sampleRate;
    this.#frameLength = msToSamples(FRAME_MS, sampleRate);
    const { hangOverMs = 0 } = this.#detector;
    this.#beginMs = hangOverMs + VOICE_MS;
    this.#endMs = Math.max(FRAME_MS, END_OF_TURN_MS - hangOverMs);
    const frames = Math.ceil((PRE_ROLL_MS + this.#beginMs) / FRAME_MS);
    this.#held = Array.from({ length: frames }, () => new Int16Array(this.#frameLength));
  }

  /** Takes the next 20 ms, which were heard at `atMs`. */
  push(frame: Int16Array, atMs: number): void {
    const voice = this.#detector.push(frame);
    if (this.#speaking) this.#goOn(frame, atMs, voice);
    else this.#wait(frame, atMs, voice);
  }

  /** The audio is over, and so is the turn. */
  finish(): void {
    if (this.#speaking) this.#end();
  }

  #wait(frame: Int16Array, atMs: number, voice: boolean): void {
    const next = (this.#heldFrom + this.#heldCount) % this.#held.length;
    this.#held[next]!.set(frame);
    if (this.#heldCount < this.#held.length) this.#heldCount++;
    else this.#heldFrom = (this.#heldFrom + 1) % this.#held.length;
    this.#voicedMs = voice ? this.#voicedMs + FRAME_MS : 0;
    if (this.#voicedMs < this.#beginMs) return;
    this.#speaking = true;
    this.#silentMs = 0;
    this.#turnMs = 0;
    const frameMs = samplesToMs(this.#frameLength, this.#sampleRate);
    for (; this.#heldCount > 0; this.#heldCount--) {
      this.#pass(this.#held[this.#heldFrom]!, atMs - (this.#heldCount - 1) * frameMs);
      this.#heldFrom = (this.#heldFrom + 1) % this.#held.length;
    }
  }

  #goOn(frame: Int16Array, atMs: number, voice: boolean): void {
    this.#pass(frame, atMs);
    this.#silentMs = voice ? 0 : this.#silentMs + FRAME_MS;
    if (this.#silentMs >= this.#endMs) this.#end();
    else if (this.#turnMs >= LONGEST_TURN_MS) {
      this.#turnMs = 0;
      this.#listener.ended();
    }
  }

  #pass(frame: Int16Array, atMs: number): void {
    this.#turnMs += FRAME_MS;
    this.#listener.spoken(frame, atMs);
  }

  #end(): void {
    this.#speaking = false;
    this.#voicedMs = 0;
    this.#listener.ended();
  }
}
