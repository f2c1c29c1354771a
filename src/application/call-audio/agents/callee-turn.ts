import { samplesToMs } from "../../../audio/samples/pcm.ts";
import { END_OF_TURN_MS, endOfTurnMs } from "../../../domain/agents/end-of-turn.ts";

/** Silence that ends the turn if the callee continued to speak, but no further text arrived, ms. */
const CONTINUATION_MS = 2_000;
/** Silence after which the reply to a text that looks complete is prepared, ms. */
const PROBABLE_END_MS = 200;
/** Maximum number of replies prepared for one turn. */
const MAX_PREPARATIONS = 3;

/** Callbacks of a {@link CalleeTurn}. */
export interface CalleeTurnCallbacks {
  /**
   * Called at the end of a turn.
   * @param continued true if the text starts with that of the previous turn, whose reply was not heard
   */
  onTurnEnd(text: string, continued: boolean): void;
  /** Called when the turn has probably ended with this text. */
  onProbableTurnEnd(text: string, continued: boolean): void;
}

/**
 * Combines the callee's words into turns. If a text looks unfinished, the turn waits for more. Until the callee hears a
 * reply, their next words continue the previous turn. Silence is measured in samples from the callee.
 */
export class CalleeTurn {
  /** BCP 47 tag of the spoken language. */
  language = "en";
  readonly #sampleRate: number;
  readonly #hangOverMs: number;
  readonly #callbacks: CalleeTurnCallbacks;
  /** The final texts of the turn. */
  readonly #texts: string[] = [];
  /** The text after the final texts, which may still change. */
  #partialText = "";
  /** The text of the latest turn, until a reply to it is heard. */
  #openTurnText = "";
  #isSpeaking = false;
  #quietMs = 0;
  /** Silence that ends the turn, ms; undefined if there are no final texts. */
  #endsAfterMs: number | undefined;
  #preparedText = "";
  #preparationCount = 0;

  /** @param hangOverMs time reported as speech after the last voiced sound, ms */
  constructor(sampleRate: number, hangOverMs: number, callbacks: CalleeTurnCallbacks) {
    this.#sampleRate = sampleRate;
    this.#hangOverMs = hangOverMs;
    this.#callbacks = callbacks;
  }

  /** True while a turn with final text waits for its end. */
  get isWaiting(): boolean {
    return this.#endsAfterMs !== undefined;
  }

  /** Advances by `samples` samples from the callee. @param isSpeaking true if they contain speech */
  push(isSpeaking: boolean, samples: number): void {
    if (isSpeaking) {
      this.#quietMs = 0;
      if (!this.#isSpeaking && this.#endsAfterMs !== undefined)
        this.#endsAfterMs = Math.max(CONTINUATION_MS, this.#endsAfterMs);
      this.#isSpeaking = true;
      return;
    }
    this.#isSpeaking = false;
    const previousMs = this.#quietMs;
    this.#quietMs += samplesToMs(samples, this.#sampleRate);
    const minQuietMs = PROBABLE_END_MS - this.#hangOverMs;
    if (previousMs < minQuietMs && this.#quietMs >= minQuietMs) this.#prepareFinished();
    if (this.#endsAfterMs !== undefined && this.#silenceMs >= this.#endsAfterMs) this.#end();
  }

  /** Sets the text after the final texts. @param isTurnEnd true if the engine expects the turn to end here */
  setPartialText(text: string, isTurnEnd = false): void {
    this.#partialText = text;
    if (isTurnEnd) this.#prepare();
    else if (!this.#isSpeaking && this.#silenceMs >= PROBABLE_END_MS) this.#prepareFinished();
  }

  /** Adds a text that no longer changes. */
  addFinalText(text: string): void {
    this.#partialText = "";
    this.#texts.push(text);
    const pauseMs = endOfTurnMs(this.#text, this.language);
    if (!this.#isSpeaking && (pauseMs <= END_OF_TURN_MS || this.#silenceMs >= pauseMs)) this.#end();
    else {
      this.#endsAfterMs = this.#isSpeaking ? Math.max(CONTINUATION_MS, pauseMs) : pauseMs;
      if (!this.#isSpeaking) this.#prepare();
    }
  }

  /** Closes the turn: the callee hears a reply, so their next words start another turn. */
  closeTurn(): void {
    this.#openTurnText = "";
  }

  get #silenceMs(): number {
    return this.#quietMs + this.#hangOverMs;
  }

  get #text(): string {
    return this.#texts.join(" ");
  }

  #end(): void {
    const continued = this.#openTurnText !== "";
    const text = [this.#openTurnText, this.#text].filter(Boolean).join(" ");
    this.#texts.length = 0;
    this.#endsAfterMs = undefined;
    this.#preparedText = "";
    this.#preparationCount = 0;
    this.#openTurnText = text;
    this.#callbacks.onTurnEnd(text, continued);
  }

  /** Prepares the reply to the text so far, unless that looks unfinished. */
  #prepareFinished(): void {
    if (this.#partialText !== "" && endOfTurnMs(this.#partialText, this.language) <= END_OF_TURN_MS) this.#prepare();
  }

  #prepare(): void {
    const text = [this.#openTurnText, this.#text, this.#partialText].filter(Boolean).join(" ");
    if (text === this.#preparedText || this.#preparationCount >= MAX_PREPARATIONS) return;
    this.#preparedText = text;
    this.#preparationCount++;
    this.#callbacks.onProbableTurnEnd(text, this.#openTurnText !== "");
  }
}
