import { samplesToMs } from "../../../audio/samples/pcm.ts";
import { END_OF_TURN_MS, endOfTurnMs } from "../../../domain/agents/end-of-turn.ts";

/** Silence after which words of continued speech are no longer awaited, ms. */
const REST_MS = 2_000;
/** Silence after which a complete-looking text counts as the whole turn, to prepare the reply, ms. */
const PROBABLY_OVER_MS = 200;
/** Replies that are prepared for one turn. */
const MAX_PREPARED = 3;

/** Callbacks of a {@link CalleeTurn}. */
export interface CalleeTurnCallbacks {
  /** Called at the end of a turn. @param continued true if the text starts with that of the previous turn, whose reply was not heard */
  over(text: string, continued: boolean): void;
  /** The turn has probably ended with this text. */
  probablyOver(text: string, continued: boolean): void;
}

/**
 * Combines the callee's words into turns. A text that looks unfinished waits for its rest; a turn to which the agent has
 * not begun to reply aloud continues with the callee's next words. Measures silence by the samples of the callee.
 */
export class CalleeTurn {
  /** BCP 47 tag of the spoken language. */
  language = "en";
  readonly #sampleRate: number;
  readonly #hangOverMs: number;
  readonly #callbacks: CalleeTurnCallbacks;
  /** The final texts of the turn. */
  readonly #texts: string[] = [];
  /** The text since then, which may still change. */
  #partial = "";
  /** The text of the latest turn, until a reply to it is heard. */
  #unanswered = "";
  #speaking = false;
  #quietMs = 0;
  /** Silence that ends the turn, ms; undefined if there are no final texts. */
  #endsAfter: number | undefined;
  #prepared = "";
  #preparations = 0;

  /** @param hangOverMs how long speech is reported after the last voice */
  constructor(sampleRate: number, hangOverMs: number, callbacks: CalleeTurnCallbacks) {
    this.#sampleRate = sampleRate;
    this.#hangOverMs = hangOverMs;
    this.#callbacks = callbacks;
  }

  /** True if the callee has said something that waits for its rest. */
  get waiting(): boolean {
    return this.#endsAfter !== undefined;
  }

  /** Adds `samples` samples, in which the callee speaks or not. */
  push(speaking: boolean, samples: number): void {
    if (speaking) {
      this.#quietMs = 0;
      if (!this.#speaking && this.#endsAfter !== undefined) this.#endsAfter = Math.max(REST_MS, this.#endsAfter);
      this.#speaking = true;
      return;
    }
    this.#speaking = false;
    const before = this.#quietMs;
    this.#quietMs += samplesToMs(samples, this.#sampleRate);
    const least = PROBABLY_OVER_MS - this.#hangOverMs;
    if (before < least && this.#quietMs >= least) this.#prepareFinished();
    if (this.#endsAfter !== undefined && this.#silenceMs >= this.#endsAfter) this.#end();
  }

  /** The text of the turn so far, after its final texts. @param ended true if the engine expects the turn to end here */
  partial(text: string, ended = false): void {
    this.#partial = text;
    if (ended) this.#prepare();
    else if (!this.#speaking && this.#silenceMs >= PROBABLY_OVER_MS) this.#prepareFinished();
  }

  /** A text that no longer changes. */
  final(text: string): void {
    this.#partial = "";
    this.#texts.push(text);
    const needed = endOfTurnMs(this.#text, this.language);
    if (!this.#speaking && (needed <= END_OF_TURN_MS || this.#silenceMs >= needed)) this.#end();
    else {
      this.#endsAfter = this.#speaking ? Math.max(REST_MS, needed) : needed;
      if (!this.#speaking) this.#prepare();
    }
  }

  /** The callee hears a reply: the next words start another turn. */
  answered(): void {
    this.#unanswered = "";
  }

  get #silenceMs(): number {
    return this.#quietMs + this.#hangOverMs;
  }

  get #text(): string {
    return this.#texts.join(" ");
  }

  #end(): void {
    const continued = this.#unanswered !== "";
    const text = [this.#unanswered, this.#text].filter(Boolean).join(" ");
    this.#texts.length = 0;
    this.#endsAfter = undefined;
    this.#prepared = "";
    this.#preparations = 0;
    this.#unanswered = text;
    this.#callbacks.over(text, continued);
  }

  /** Prepares the reply to the text so far, unless that looks unfinished. */
  #prepareFinished(): void {
    if (this.#partial !== "" && endOfTurnMs(this.#partial, this.language) <= END_OF_TURN_MS) this.#prepare();
  }

  #prepare(): void {
    const text = [this.#unanswered, this.#text, this.#partial].filter(Boolean).join(" ");
    if (text === this.#prepared || this.#preparations >= MAX_PREPARED) return;
    this.#prepared = text;
    this.#preparations++;
    this.#callbacks.probablyOver(text, this.#unanswered !== "");
  }
}
