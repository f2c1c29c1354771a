import { samplesToMs } from "../../audio/samples/pcm.ts";
import { Steadiness } from "../../audio/voice/steadiness.ts";
import {
  AnswerRules,
  type AnswerVerdict,
  type GreetingEnd,
  LATE_BEEP_MS,
  RECORDS_AFTER_MS,
} from "../../domain/answering/answering-machine.ts";
import type { ToneFinding } from "../../domain/tones/line-tones.ts";
import type { CallTap } from "./call-tap.ts";
import type { LiveCallMedia } from "./call-types/call-type-program.ts";

/** Callbacks of an {@link AnswerAnalyzer}. They run on the leg's clock and must not wait. */
export interface AnswerReports {
  /** Reports who has answered; called again when that becomes clearer. */
  onAnswer(verdict: AnswerVerdict): void;
  /** Called when the machine records; only after {@link AnswerAnalyzer.awaitRecording}. */
  onGreetingEnd(end: GreetingEnd): void;
  /** Called once, at the end of the analysis: a message that has not been stopped by then is played only once. */
  onSettled?(): void;
}

/** Detects who has answered, and when a machine starts to record. Does not allocate per frame. */
export class AnswerAnalyzer implements CallTap {
  readonly #callee: LiveCallMedia["callee"];
  readonly #sampleRate: number;
  readonly #reports: AnswerReports;
  readonly #rules: AnswerRules;
  readonly #steadiness: Steadiness;
  #awaitsRecording = false;
  #hasBeeped = false;
  #isSettled = false;
  /** Time since the greeting was reported to have ended in silence, ms; undefined before. */
  #sinceSilenceMs: number | undefined;

  /** @param callee analysis of the frame that is added next */
  constructor(callee: LiveCallMedia["callee"], sampleRate: number, reports: AnswerReports) {
    this.#callee = callee;
    this.#sampleRate = sampleRate;
    this.#reports = reports;
    this.#rules = new AnswerRules(callee.hangOverMs);
    this.#steadiness = new Steadiness(sampleRate);
  }

  inbound(frame: Int16Array, received: Int16Array = frame, marks?: Uint8Array): void {
    const rules = this.#rules;
    const { isSpeech } = this.#callee;
    const ms = samplesToMs(received.length, this.#sampleRate);
    if (isSpeech && !rules.isDone && marks === undefined) this.#steadiness.push(received);
    const verdict = rules.onAudio(isSpeech, this.#steadiness.isSteady, ms);
    if (verdict !== undefined) this.#reports.onAnswer(verdict);
    if (this.#awaitsRecording) this.#watch(ms);
    if (!this.#isSettled && rules.isSettled) {
      this.#isSettled = true;
      this.#reports.onSettled?.();
    }
  }

  /** Handles a tone that has ended, and that began `atMs` after the answer. */
  beep(hz: number, atMs: number): void {
    if (!this.#rules.isBeep(hz)) return;
    this.#hasBeeped = true;
    const verdict = this.#rules.beep(hz, atMs);
    if (verdict !== undefined) this.#reports.onAnswer(verdict);
  }

  /** Handles a known tone of a network or a machine; returns the new verdict, if it changes. */
  tone({ tone }: ToneFinding): AnswerVerdict | undefined {
    return this.#rules.tone(tone);
  }

  /** Handles a person who takes the call; returns the new verdict, if it changes. */
  person(): AnswerVerdict | undefined {
    return this.#rules.verdict?.answeredBy === "screening" ? this.#rules.person() : undefined;
  }

  /** Handles words of the callee. */
  words(text: string): void {
    const verdict = this.#rules.words(text);
    if (verdict !== undefined) this.#reports.onAnswer(verdict);
  }

  /** Called when the callee presses a key. */
  key(): void {
    const verdict = this.#rules.key();
    if (verdict !== undefined) this.#reports.onAnswer(verdict);
  }

  /** Reports when the machine records: at once if it has beeped. */
  awaitRecording(): void {
    this.#awaitsRecording = true;
    this.#sinceSilenceMs = undefined;
  }

  #watch(ms: number): void {
    if (this.#sinceSilenceMs !== undefined) this.#sinceSilenceMs += ms;
    if (this.#hasBeeped) this.#endGreeting("beep");
    else if (this.#sinceSilenceMs === undefined) {
      if (this.#rules.quietMs < RECORDS_AFTER_MS) return;
      this.#sinceSilenceMs = 0;
      this.#reports.onGreetingEnd("silence");
    } else if (this.#sinceSilenceMs > LATE_BEEP_MS) this.#awaitsRecording = false;
  }

  #endGreeting(end: GreetingEnd): void {
    this.#awaitsRecording = false;
    this.#reports.onGreetingEnd(end);
  }
}
