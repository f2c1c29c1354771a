import type { Playout } from "../../../audio/playout/playout.ts";
import { msToSamples, samplesToMs } from "../../../audio/samples/pcm.ts";
import { heardWords } from "../../../domain/calls/heard.ts";

/** The heard part of the agent's words. Times are ms since the answer. */
export interface SpokenLine {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** A text on its way to the callee: the samples rendered so far and the part heard so far. */
export class Utterance {
  text: string;
  readonly interruptible: boolean;
  /** Id of its item, if it is an agent's audio. */
  readonly id: string;
  readonly #playout: Playout;
  readonly #pieces: Int16Array[] = [];
  /** Number of rendered samples. */
  samples = 0;
  #isRendered = false;
  /** True if the engine failed midway. */
  #hasFailed = false;
  /** Time at which its first sample was played, ms since the answer; undefined before. */
  #startMs: number | undefined;
  /** The playout's `heardMs` when the text started or resumed; undefined while it is not playing. */
  #heardAtStartMs: number | undefined;
  /** Length heard before it was held, ms. */
  #heardMs = 0;
  /** Number of characters reported as heard. */
  #reportedLength = 0;

  constructor(text: string, interruptible: boolean, playout: Playout, id = "") {
    this.text = text;
    this.id = id;
    this.interruptible = interruptible;
    this.#playout = playout;
  }

  /** True if the callee hears its beginning, or has heard it. */
  get hasStarted(): boolean {
    return this.#startMs !== undefined;
  }

  /** True if no more of it will be rendered. */
  get isRendered(): boolean {
    return this.#isRendered;
  }

  /** Length of the rendered part, ms. */
  get lengthMs(): number {
    return samplesToMs(this.samples, this.#playout.sampleRate);
  }

  /** Length heard so far, ms. */
  get heardMs(): number {
    return this.#heardAtStartMs === undefined
      ? this.#heardMs
      : this.#heardMs + this.#playout.heardMs - this.#heardAtStartMs;
  }

  /** The words that were heard. */
  get heardText(): string {
    return heardWords(this.text, this.heardMs, this.#isRendered ? this.lengthMs : undefined);
  }

  add(samples: Int16Array): void {
    this.#pieces.push(samples);
    this.samples += samples.length;
  }

  /** Marks the text as fully rendered. */
  markRendered(): void {
    this.#isRendered = true;
  }

  /** Gives up rendering the rest. */
  abandon(): void {
    this.#isRendered = this.#hasFailed = true;
  }

  /** Called when the text, or its remaining part, starts to play. */
  begin(): void {
    this.#startMs ??= this.#playout.clockMs;
    this.#heardAtStartMs = this.#playout.heardMs;
  }

  /** Pauses the text. */
  hold(): void {
    this.#heardMs = this.heardMs;
    this.#heardAtStartMs = undefined;
  }

  /** Queues the part that had not been heard when the text was held. */
  playUnheard(): void {
    let skip = msToSamples(this.#heardMs, this.#playout.sampleRate);
    for (const piece of this.#pieces) {
      if (skip < piece.length) this.#playout.enqueue(skip > 0 ? piece.subarray(skip) : piece);
      skip = Math.max(0, skip - piece.length);
    }
  }

  /** The words heard, once it has been played to its end; undefined if no new words were heard. */
  takeLineAtEnd(): SpokenLine | undefined {
    return this.#line(this.#hasFailed ? heardWords(this.text, this.heardMs, undefined) : this.text);
  }

  /** The words heard before it was held; undefined if no new words were heard. */
  takeLineAtHold(): SpokenLine | undefined {
    return this.hasStarted ? this.#line(this.heardText) : undefined;
  }

  /** @param heardText the heard beginning of the text, without the part that has already been reported */
  #line(heardText: string): SpokenLine | undefined {
    const text = heardText.slice(this.#reportedLength).trim();
    this.#reportedLength = Math.max(this.#reportedLength, heardText.length);
    return text === "" ? undefined : { text, startMs: this.#startMs ?? 0, endMs: this.#playout.clockMs };
  }
}

/** Callbacks of a {@link SpokenQueue}. */
export interface SpokenQueueReports {
  /** Called when an utterance starts to play. */
  onStart(): void;
  /** Called when an utterance has been played or cut. */
  onSpoken(line: SpokenLine, utterance: Utterance): void;
}

/** The agent's utterances that have not been fully heard, played in order unless the agent's turn is held. */
export class SpokenQueue {
  /** The next utterance first. */
  readonly utterances: Utterance[] = [];
  readonly #playout: Playout;
  readonly #turn: { readonly isHeld: boolean };
  readonly #reports: SpokenQueueReports;

  constructor(playout: Playout, turn: { readonly isHeld: boolean }, reports: SpokenQueueReports) {
    this.#playout = playout;
    this.#turn = turn;
    this.#reports = reports;
  }

  /** True if the callee hears the first utterance, or has heard a part of it. */
  get hasStarted(): boolean {
    return this.utterances[0]?.hasStarted === true;
  }

  /** Adds an utterance, whose unheard part plays after the others. */
  push(utterance: Utterance): void {
    this.utterances.push(utterance);
    if (!this.#turn.isHeld) this.#play(utterance);
  }

  /** Adds samples to the last utterance. Do not write to the array afterwards. */
  add(utterance: Utterance, samples: Int16Array): void {
    utterance.add(samples);
    if (!this.#turn.isHeld) this.#playout.enqueue(samples);
  }

  /** Marks an utterance as complete. */
  end(utterance: Utterance): void {
    if (!this.#turn.isHeld) this.#markEnd(utterance);
  }

  /** Stops at once, and keeps the unheard part. */
  hold(): void {
    this.#playout.clear(); // a leg that pulls ahead reports now what it has sent
    for (const utterance of this.utterances) utterance.hold();
  }

  /** Plays the unheard part. */
  release(): void {
    for (const utterance of this.utterances) this.#play(utterance);
  }

  /** Drops the held utterances, and reports the words that were heard; returns the utterances. */
  cut(): Utterance[] {
    const cutUtterances = this.utterances.splice(0);
    for (const utterance of cutUtterances) this.#report(utterance, utterance.takeLineAtHold());
    return cutUtterances;
  }

  #play(utterance: Utterance): void {
    this.#playout.mark("", () => {
      utterance.begin();
      this.#reports.onStart();
    });
    utterance.playUnheard();
    if (utterance.isRendered) this.#markEnd(utterance);
  }

  #markEnd(utterance: Utterance): void {
    this.#playout.mark("", () => {
      this.utterances.splice(this.utterances.indexOf(utterance), 1);
      this.#report(utterance, utterance.takeLineAtEnd());
    });
  }

  #report(utterance: Utterance, line: SpokenLine | undefined): void {
    if (line !== undefined) this.#reports.onSpoken(line, utterance);
  }
}
