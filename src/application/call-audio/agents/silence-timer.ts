import { msToSamples } from "../../../audio/samples/pcm.ts";

/** Measures on the leg's own clock how long both sides are silent while the agent listens. */
export class SilenceTimer {
  readonly #sampleRate: number;
  readonly #onElapsed: () => void;
  /** Number of samples of silence that the agent waits for; undefined while it does not listen. */
  #limit: number | undefined;
  /** Number of samples of silence since the last word. */
  #silentSamples = 0;

  /** @param onElapsed called at most once each time that the agent listens */
  constructor(sampleRate: number, onElapsed: () => void) {
    this.#sampleRate = sampleRate;
    this.#onElapsed = onElapsed;
  }

  /** Starts the timer: the agent is listening. */
  start(forMs: number): void {
    this.#silentSamples = 0;
    this.#limit = msToSamples(forMs, this.#sampleRate);
  }

  /** Stops the timer: the agent no longer listens. Returns the limit for {@link resume}. */
  stop(): number | undefined {
    const limit = this.#limit;
    this.#limit = undefined;
    return limit;
  }

  /** Resumes the timer after {@link stop}; earlier silence is included. */
  resume(limit: number | undefined): void {
    this.#limit = limit;
  }

  get isRunning(): boolean {
    return this.#limit !== undefined;
  }

  /** Advances by samples of the call. @param isSilent true if neither side spoke */
  advance(samples: number, isSilent: boolean): void {
    if (this.#limit === undefined) return;
    this.#silentSamples = isSilent ? this.#silentSamples + samples : 0;
    if (this.#silentSamples < this.#limit) return;
    this.#limit = undefined;
    this.#onElapsed();
  }
}
