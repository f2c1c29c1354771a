import { samplesToMs } from "../../../audio/pcm.ts";

/** Voice of this length is taken for an interruption, ms. */
export const BARGE_IN_MS = 200;
/** After that much silence without a word, the interruption was none, ms. */
const FALSE_ALARM_MS = 2_000;

/** Callbacks of a {@link BargeIn}. They run within the leg's clock. */
export interface BargeInCallbacks {
  /** The callee has been speaking for {@link BARGE_IN_MS}. */
  begins(): void;
  /** The callee has stopped, and nothing was understood. */
  falseAlarm(): void;
}

/** Notices that the callee speaks into the agent's words, by the callee's own samples. */
export class BargeIn {
  readonly #sampleRate: number;
  readonly #callbacks: BargeInCallbacks;
  #voicedMs = 0;
  #quietMs = 0;
  #waiting = false;

  constructor(sampleRate: number, callbacks: BargeInCallbacks) {
    this.#sampleRate = sampleRate;
    this.#callbacks = callbacks;
  }

  /** Takes whether the callee speaks in the next `samples` samples. */
  push(speaking: boolean, samples: number): void {
    const ms = samplesToMs(samples, this.#sampleRate);
    if (speaking) {
      const before = this.#voicedMs;
      this.#voicedMs += ms;
      this.#quietMs = 0;
      if (before >= BARGE_IN_MS || this.#voicedMs < BARGE_IN_MS) return;
      this.#waiting = true;
      this.#callbacks.begins();
      return;
    }
    this.#voicedMs = 0;
    this.#quietMs += ms;
    if (!this.#waiting || this.#quietMs < FALSE_ALARM_MS) return;
    this.#waiting = false;
    this.#callbacks.falseAlarm();
  }

  /** What the callee has said is known. */
  understood(): void {
    this.#waiting = false;
  }
}
