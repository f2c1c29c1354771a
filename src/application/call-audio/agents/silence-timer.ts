import { msToSamples } from "../../../audio/samples/pcm.ts";

/** Measures by the leg's own clock how long both sides are silent while the agent listens. */
export class SilenceTimer {
  readonly #sampleRate: number;
  readonly #onElapsed: () => void;
  /** Samples of silence that the agent waits for; undefined while it does not listen. */
  #limit: number | undefined;
  /** Samples of silence since the last word. */
  #silentSamples = 0;

  /** @param onElapsed called back once for each time that the agent listens */
  constructor(sampleRate: number, onElapsed: () => void) {
    this.#sampleRate = sampleRate;
    this.#onElapsed = onElapsed;
  }

  /** Starts the timer: the agent is listening. */
  start(forMs: number): void {
    this.#silentSamples = 0;
    this.#limit = msToSamples(forMs, this.#sampleRate);
  }

  /** The agent no longer listens; returns what {@link resume} takes. */
  stop(): number | undefined {
    const limit = this.#limit;
    this.#limit = undefined;
    return limit;
  }

  /** Resumes the timer after {@link stop}; earlier silence counts. */
  resume(limit: number | undefined): void {
    this.#limit = limit;
  }

  get isRunning(): boolean {
    return this.#limit !== undefined;
  }

  /** Samples of the call have passed. @param isSilent without speech of either side */
  advance(samples: number, isSilent: boolean): void {
    if (this.#limit === undefined) return;
    this.#silentSamples = isSilent ? this.#silentSamples + samples : 0;
    if (this.#silentSamples < this.#limit) return;
    this.#limit = undefined;
    this.#onElapsed();
  }
}
