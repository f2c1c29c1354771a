import { samplesToMs } from "../../../audio/samples/pcm.ts";
import { Pitch } from "../../../audio/voice/pitch.ts";

/** Minimum length of voice for an interruption, ms. */
export const BARGE_IN_MS = 200;
/** Minimum voiced part of an interruption, ms: clicks in quick succession have less. */
const MIN_VOICED_MS = 100;
/** Minimum length of the vowels in an interruption, ms: sudden noise has none. */
const MIN_VOWEL_MS = 40;
/** Minimum length of voice that is not a click, ms. */
const SOUND_MS = 60;
/** Silence without a word after which an interruption was a false alarm, ms. */
const FALSE_ALARM_MS = 2_000;
/** Silence after which a sound that was too short for an interruption was a false alarm, ms. */
const SHORT_FALSE_ALARM_MS = 700;

/** Callbacks of a {@link BargeIn}. They run on the leg's clock. */
export interface BargeInCallbacks {
  /** Called when the callee makes a sound, perhaps the first of a word. */
  onSound(): void;
  /** Called when the callee has been speaking for {@link BARGE_IN_MS}. */
  onBargeIn(): void;
  /** Called when the callee has stopped speaking, and no word was transcribed. */
  onFalseAlarm(): void;
}

/** Detects from the callee's samples when the callee speaks over the agent. */
export class BargeIn {
  readonly #sampleRate: number;
  readonly #callbacks: BargeInCallbacks;
  readonly #pitch: Pitch;
  /** Lengths of the current speech: with pauses, without pauses, and its vowels only, ms. */
  #speechMs = 0;
  #voicedMs = 0;
  #vowelMs = 0;
  /** True if the current speech has been reported. */
  #isReported = false;
  #quietMs = 0;
  /** Silence that turns the latest report into a false alarm, ms; undefined if there was no report. */
  #alarmMs: number | undefined;

  constructor(sampleRate: number, callbacks: BargeInCallbacks) {
    this.#sampleRate = sampleRate;
    this.#callbacks = callbacks;
    this.#pitch = new Pitch(sampleRate);
  }

  /**
   * Adds the next frame.
   * @param isSpeaking true if the callee speaks
   * @param isVoiced false in a pause within the speech
   */
  push(frame: Int16Array, isSpeaking: boolean, isVoiced: boolean): void {
    const ms = samplesToMs(frame.length, this.#sampleRate);
    this.#pitch.push(frame);
    if (!isSpeaking) {
      this.#speechMs = this.#voicedMs = this.#vowelMs = 0;
      this.#isReported = false;
      this.#quietMs += ms;
      if (this.#alarmMs === undefined || this.#quietMs < this.#alarmMs) return;
      this.#alarmMs = undefined;
      this.#callbacks.onFalseAlarm();
      return;
    }
    this.#quietMs = 0;
    this.#speechMs += ms;
    if (!isVoiced || isHiss(frame, this.#sampleRate)) return;
    const previousMs = this.#voicedMs;
    this.#voicedMs += ms;
    if (previousMs < SOUND_MS && this.#voicedMs >= SOUND_MS) {
      this.#alarmMs ??= SHORT_FALSE_ALARM_MS;
      this.#callbacks.onSound();
    }
    if (this.#vowelMs < MIN_VOWEL_MS && this.#pitch.isVoice) this.#vowelMs += ms;
    if (this.#isReported || this.#speechMs < BARGE_IN_MS) return;
    if (this.#voicedMs < MIN_VOICED_MS || this.#vowelMs < MIN_VOWEL_MS) return;
    this.#isReported = true;
    this.#alarmMs = FALSE_ALARM_MS;
    this.#callbacks.onBargeIn();
  }

  /** Cancels the false alarm: the callee's words are known, or there were none. */
  confirmSpeech(): void {
    this.#alarmMs = undefined;
  }
}

/** Maximum number of zero crossings per second of a voice; vowels alone have fewer. */
const MAX_CROSSINGS = 2_400;

/**
 * True if a frame's zero crossings are those of white noise, a knock or a sharp s rather than of a voice's vowels.
 * Allocates nothing.
 */
function isHiss(frame: Int16Array, sampleRate: number): boolean {
  let crossings = 0;
  for (let at = 1; at < frame.length; at++) if ((frame[at - 1]! ^ frame[at]!) < 0) crossings++;
  return crossings * sampleRate > MAX_CROSSINGS * frame.length;
}
