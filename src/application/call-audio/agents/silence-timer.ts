import { msToSamples } from "../../../audio/samples/pcm.ts";

/** Measures by the leg's own clock how long both sides are silent while the agent listens. */
export class SilenceTimer {
  readonly #sampleRate: number;
  readonly #elapsed: () => void;
  /** Samples of silence that the agent waits for; undefined while it does not listen. */
  #listensFor: number | undefined;
  /** Samples of silence since the last word. */
  #silent = 0;

  /** @param elapsed called back once for each time that the agent listens */
  constructor(sampleRate: number, elapsed: () => void) {
    this.#sampleRate = sampleRate;
    this.#elapsed = elapsed;
  }

  /** Starts the timer: the agent is listening. */
  start(forMs: number): void {
    this.#silent = 0;
    this.#listensFor = msToSamples(forMs, this.#sampleRate);
  }

  /** The agent no longer listens; returns what {@link resume} takes. */
  stop(): number | undefined {
    const listensFor = this.#listensFor;
    this.#listensFor = undefined;
    return listensFor;
  }

  /** Resumes the timer after {@link stop}; earlier silence counts. */
  resume(listensFor: number | undefined): void {
    this.#listensFor = listensFor;
  }

  get runs(): boolean {
    return this.#listensFor !== undefined;
  }

  /** Samples of the call have passed. @param silent without speech of either side */
  passed(samples: number, silent: boolean): void {
    if (this.#listensFor === undefined) return;
    this.#silent = silent ? this.#silent + samples : 0;
    if (this.#silent < this.#listensFor) return;
    this.#listensFor = undefined;
    this.#elapsed();
  }
}
