import { msToSamples } from "../../../audio/samples/pcm.ts";

/** Maximum time to wait for the words of a turn, ms. */
const TRANSCRIPTION_LIMIT_MS = 10_000;

/**
 * Detects when the words of a turn do not arrive. Measures time in the leg's samples, so that time on hold is not
 * included.
 */
export class TranscriptionWatch {
  readonly #maxSamples: number;
  readonly #onLost: (detail: string) => void;
  /** Number of turns whose words have not arrived. */
  #turnCount = 0;
  #waitedSamples = 0;
  /** True if the callee has spoken since the latest words arrived. */
  #hasSpoken = false;

  /**
   * @param onLost called, possibly on the leg's clock, if the words of a turn are lost; the detail is for an operator
   */
  constructor(sampleRate: number, onLost: (detail: string) => void) {
    this.#maxSamples = msToSamples(TRANSCRIPTION_LIMIT_MS, sampleRate);
    this.#onLost = onLost;
  }

  /** True if the words of a turn have not arrived yet. */
  get isWaiting(): boolean {
    return this.#turnCount > 0;
  }

  /** Called when the callee speaks for longer than a click. */
  recordSpeech(): void {
    this.#hasSpoken = true;
  }

  /** Records the end of the callee's turn, which the engine now transcribes. */
  recordTurnEnd(): void {
    if (this.#turnCount++ === 0) this.#waitedSamples = 0;
  }

  /** Records that the words of a turn are known, or that it has none. */
  recordWords(): void {
    this.#turnCount = Math.max(0, this.#turnCount - 1);
    this.#waitedSamples = 0;
    this.#hasSpoken = false;
  }

  /** Records that a part of the call was not transcribed. */
  recordFailure(error: Error): void {
    if (this.#turnCount > 0 || this.#hasSpoken) this.#reportLoss(error.message);
  }

  /** Adds samples of elapsed time. */
  push(samples: number): void {
    if (this.#turnCount === 0) return;
    this.#waitedSamples += samples;
    if (this.#waitedSamples >= this.#maxSamples)
      this.#reportLoss(`the transcription engine sent nothing for ${TRANSCRIPTION_LIMIT_MS} ms`);
  }

  #reportLoss(detail: string): void {
    this.recordWords();
    this.#onLost(detail);
  }
}
