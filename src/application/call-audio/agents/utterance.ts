import { msToSamples, samplesToMs } from "../../../audio/pcm.ts";
import type { Playout } from "../../../audio/playout.ts";
import { heardWords } from "../../../domain/heard-words.ts";

/** Something that the agent said, as far as it was heard. Times are ms since the answer. */
export interface SpokenLine {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** One text on its way to the callee: its samples as far as they are rendered, and what was heard of it. */
export class Utterance {
  readonly text: string;
  readonly interruptible: boolean;
  readonly #playout: Playout;
  readonly #pieces: Int16Array[] = [];
  #rendered = false;
  /** The engine has failed in the middle of it. */
  #failed = false;
  /** When its first sample was played, ms since the answer; undefined before. */
  #startMs: number | undefined;
  /** Signal of the playout before it was begun, or resumed, ms; undefined until then. */
  #heardBefore: number | undefined;
  /** What was heard of it before it was held, ms. */
  #heardMs = 0;
  /** Characters of it that were reported as heard. */
  #reported = 0;

  constructor(text: string, interruptible: boolean, playout: Playout) {
    this.text = text;
    this.interruptible = interruptible;
    this.#playout = playout;
  }

  /** Whether the callee hears its beginning, or has heard it. */
  get begun(): boolean {
    return this.#startMs !== undefined;
  }

  /** Whether nothing more of it will be rendered. */
  get rendered(): boolean {
    return this.#rendered;
  }

  /** Whether nothing of it is rendered. */
  get empty(): boolean {
    return this.#pieces.length === 0;
  }

  add(samples: Int16Array): void {
    this.#pieces.push(samples);
  }

  /** All of it is rendered. */
  complete(): void {
    this.#rendered = true;
  }

  /** The rest of it cannot be rendered. */
  abandon(): void {
    this.#rendered = this.#failed = true;
  }

  /** Its beginning, or that of what is left of it, is played now. */
  begin(): void {
    this.#startMs ??= this.#playout.clockMs;
    this.#heardBefore = this.#playout.heardMs;
  }

  /** It is not played any more, for now. */
  hold(): void {
    this.#heardMs = this.#heard();
    this.#heardBefore = undefined;
  }

  /** Queues what was not heard of it before it was held. */
  playRest(): void {
    let skip = msToSamples(this.#heardMs, this.#playout.sampleRate);
    for (const piece of this.#pieces) {
      if (skip < piece.length) this.#playout.enqueue(skip > 0 ? piece.subarray(skip) : piece);
      skip = Math.max(0, skip - piece.length);
    }
  }

  /** What the callee has heard once it was played to its end; undefined if nothing, or nothing new. */
  heardToEnd(): SpokenLine | undefined {
    return this.#line(this.#failed ? heardWords(this.text, this.#heard(), undefined) : this.text);
  }

  /** What the callee had heard when it was held; undefined if nothing, or nothing new. */
  heardUntilHeld(): SpokenLine | undefined {
    if (!this.begun) return undefined;
    const samples = this.#pieces.reduce((sum, { length }) => sum + length, 0);
    const textMs = this.#rendered ? samplesToMs(samples, this.#playout.sampleRate) : undefined;
    return this.#line(heardWords(this.text, this.#heardMs, textMs));
  }

  /** What was heard of it so far, ms. */
  #heard(): number {
    return this.#heardBefore === undefined ? this.#heardMs : this.#heardMs + this.#playout.heardMs - this.#heardBefore;
  }

  /** @param heard the beginning of the text that was heard; what was reported of it before is left out */
  #line(heard: string): SpokenLine | undefined {
    const text = heard.slice(this.#reported).trim();
    this.#reported = Math.max(this.#reported, heard.length);
    return text === "" ? undefined : { text, startMs: this.#startMs ?? 0, endMs: this.#playout.clockMs };
  }
}
