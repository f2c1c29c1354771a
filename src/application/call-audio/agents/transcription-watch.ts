import { msToSamples } from "../../../audio/samples/pcm.ts";

/** Time the words of a turn may take, ms. */
const WORDS_MS = 10_000;

/** Notices that the words of a turn do not arrive. Measures by the leg's samples, so that a call on hold does not count. */
export class TranscriptionWatch {
  readonly #longest: number;
  readonly #unheard: (detail: string) => void;
  /** Turns whose words have not arrived. */
  #turns = 0;
  #waited = 0;
  /** The callee has spoken since the latest words arrived. */
  #spoke = false;

  /** @param unheard called, on the leg's clock as well, if the words of a turn are lost; the detail is for an operator */
  constructor(sampleRate: number, unheard: (detail: string) => void) {
    this.#longest = msToSamples(WORDS_MS, sampleRate);
    this.#unheard = unheard;
  }

  /** True if words are on their way. */
  get waiting(): boolean {
    return this.#turns > 0;
  }

  /** Called when the callee speaks for longer than a click. */
  speaks(): void {
    this.#spoke = true;
  }

  /** The callee's turn has ended, and the engine transcribes it. */
  turnEnded(): void {
    if (this.#turns++ === 0) this.#waited = 0;
  }

  /** The words of a turn are known, or it has none. */
  answered(): void {
    this.#turns = Math.max(0, this.#turns - 1);
    this.#waited = 0;
    this.#spoke = false;
  }

  /** A part of the call was not transcribed. */
  failed(error: Error): void {
    if (this.#turns > 0 || this.#spoke) this.#lost(error.message);
  }

  /** Adds samples of elapsed time. */
  push(samples: number): void {
    if (this.#turns === 0) return;
    this.#waited += samples;
    if (this.#waited >= this.#longest) this.#lost(`the transcription engine sent nothing for ${WORDS_MS} ms`);
  }

  #lost(detail: string): void {
    this.answered();
    this.#unheard(detail);
  }
}
