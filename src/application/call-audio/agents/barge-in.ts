import { samplesToMs } from "../../../audio/pcm.ts";

/** Voice of this length is taken for an interruption, ms. */
export const BARGE_IN_MS = 200;
/** Of that, the least that is voice itself: clicks in quick succession have less. */
const LEAST_VOICED_MS = 100;
/** Voice of this length is no click, ms. */
const SOUND_MS = 60;
/** After that much silence without a word, the interruption was none, ms. */
const FALSE_ALARM_MS = 2_000;
/** The same after a sound that was too short for an interruption. */
const SHORT_FALSE_ALARM_MS = 700;

/** Callbacks of a {@link BargeIn}. They run within the leg's clock. */
export interface BargeInCallbacks {
  /** The callee makes a sound, perhaps the first one of a word. */
  sounds(): void;
  /** The callee has been speaking for {@link BARGE_IN_MS}. */
  begins(): void;
  /** The callee has stopped, and nothing was understood. */
  falseAlarm(): void;
}

/** Notices that the callee speaks into the agent's words, by the callee's own samples. */
export class BargeIn {
  readonly #sampleRate: number;
  readonly #callbacks: BargeInCallbacks;
  /** Length of the current speech with the pauses in it, and without them, ms. */
  #speechMs = 0;
  #voicedMs = 0;
  #quietMs = 0;
  /** Silence that makes a false alarm of what was reported, ms; undefined if nothing was. */
  #alarmMs: number | undefined;

  constructor(sampleRate: number, callbacks: BargeInCallbacks) {
    this.#sampleRate = sampleRate;
    this.#callbacks = callbacks;
  }

  /** Takes whether the callee speaks in the next `samples` samples, and whether that is `voiced`, and no pause in it. */
  push(speaking: boolean, voiced: boolean, samples: number): void {
    const ms = samplesToMs(samples, this.#sampleRate);
    if (!speaking) {
      this.#speechMs = this.#voicedMs = 0;
      this.#quietMs += ms;
      if (this.#alarmMs === undefined || this.#quietMs < this.#alarmMs) return;
      this.#alarmMs = undefined;
      this.#callbacks.falseAlarm();
      return;
    }
    this.#quietMs = 0;
    const [speechMs, voicedMs] = [this.#speechMs, this.#voicedMs];
    this.#speechMs += ms;
    if (!voiced) return;
    this.#voicedMs += ms;
    if (voicedMs < SOUND_MS && this.#voicedMs >= SOUND_MS) {
      this.#alarmMs ??= SHORT_FALSE_ALARM_MS;
      this.#callbacks.sounds();
    }
    const interrupts = this.#speechMs >= BARGE_IN_MS && this.#voicedMs >= LEAST_VOICED_MS;
    if (!interrupts || (speechMs >= BARGE_IN_MS && voicedMs >= LEAST_VOICED_MS)) return;
    this.#alarmMs = FALSE_ALARM_MS;
    this.#callbacks.begins();
  }

  /** It is known what the callee has said, or that it was nothing. */
  understood(): void {
    this.#alarmMs = undefined;
  }
}
