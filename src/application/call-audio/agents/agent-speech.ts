import type { Playout } from "../../../audio/playout.ts";
import { resampleStream } from "../../../audio/resample-stream.ts";
import { errorText } from "../../../base/error-text.ts";
import type { Call } from "../../../domain/call.ts";
import type { SkippedText } from "../../../domain/spoken-text/speakable-text.ts";
import { SpeechFailed } from "../../../ports/speech.ts";
import type { Context } from "../../context.ts";
import { MessageDemand } from "../programs/message.ts";
import { promptly } from "../speech/promptly.ts";
import { UnspeakableText } from "../speech/speech-scheduler.ts";
import { type SpokenLine, Utterance } from "./utterance.ts";

/** How long the speech engine may take for the next piece of a text, ms. */
const SPEECH_MS = 10_000;
const LATE = `the speech engine sent nothing for ${SPEECH_MS} ms`;

/** Callbacks of an {@link AgentSpeech}. */
export interface SpeechReports {
  /** The first samples of a text have come from the engine. */
  rendered(): void;
  /** A text begins to be played. */
  begun(): void;
  /** A text has been played, or was interrupted. */
  spoken(line: SpokenLine): void;
  /** The voice does not speak this part of a text. */
  skipped(passage: SkippedText): void;
}

/** The agent's voice: speaks one text after the other, stops if it is interrupted, and knows what was heard. */
export class AgentSpeech {
  readonly #context: Context;
  readonly #voiceId: string;
  readonly #playout: Playout;
  readonly #demand: MessageDemand;
  readonly #reports: SpeechReports;
  /** Texts that have not been played to their end, the next one first. */
  readonly #utterances: Utterance[] = [];
  /** Aborted to stop the text that is being rendered. */
  #rendering = new AbortController();
  /** Texts that the callee has interrupted, until the agent says something else. */
  #dropped: Utterance[] = [];
  /** The rest of the reply is not spoken, as far as it may be interrupted. */
  #interrupted = false;
  /** The callee may be interrupting: nothing is played until that is known. */
  #held = false;

  constructor(context: Context, call: Call, voiceId: string, playout: Playout, reports: SpeechReports) {
    this.#context = context;
    this.#voiceId = voiceId;
    this.#playout = playout;
    this.#reports = reports;
    this.#demand = new MessageDemand(call);
    this.#demand.playout = playout;
  }

  /** Whether a text is being played, or is queued, that the callee cannot interrupt. */
  get mustBeHeard(): boolean {
    return this.#utterances.some(({ interruptible }) => !interruptible);
  }

  /** Whether the callee hears words that can be interrupted. */
  get canBeInterrupted(): boolean {
    return !this.#held && this.begun && !this.mustBeHeard;
  }

  /** Whether a text has not been played to its end. */
  get speaks(): boolean {
    return this.#utterances.length > 0;
  }

  get held(): boolean {
    return this.#held;
  }

  /** Whether the callee hears the beginning of a text, or of what is left of it. */
  get begun(): boolean {
    return this.#utterances[0]?.begun === true;
  }

  /** The agent begins another reply: what interrupted the one before does not interrupt this one. */
  beginReply(): void {
    this.#interrupted = false;
  }

  /**
   * Speaks a text behind those before it; resolves when all of it is queued, or was interrupted.
   * @throws {SpeechFailed} or the signal's reason
   */
  async say(text: string, interruptible: boolean, signal: AbortSignal): Promise<void> {
    const utterance = new Utterance(text, interruptible, this.#playout);
    if (this.#interrupted && interruptible) {
      this.#dropped.push(utterance);
      return;
    }
    if (!interruptible) this.release();
    this.#dropped = [];
    this.#utterances.push(utterance);
    if (!this.#held) this.#markStart(utterance);
    this.#rendering = new AbortController();
    const stop = AbortSignal.any([signal, this.#rendering.signal]);
    try {
      for await (const samples of this.#rendered(text, stop)) {
        if (stop.aborted) break;
        if (utterance.empty) this.#reports.rendered();
        utterance.add(samples);
        if (!this.#held) this.#playout.enqueue(samples);
      }
    } catch (error) {
      if (!stop.aborted) {
        utterance.abandon();
        if (!this.#held) this.#markEnd(utterance);
        // One sentence in a script that the voice does not know is reported; the rest of the reply is spoken.
        if (error instanceof UnspeakableText) return;
        throw error instanceof SpeechFailed ? error : new SpeechFailed(errorText(error), { cause: error });
      }
    }
    signal.throwIfAborted();
    if (this.#rendering.signal.aborted) return;
    utterance.complete();
    if (!this.#held) this.#markEnd(utterance);
  }

  /** The samples of a text; a request that brings nothing in time is repeated once. */
  #rendered(text: string, signal: AbortSignal): AsyncIterable<Int16Array> {
    const { speechScheduler, system } = this.#context;
    const reported = new Set<string>();
    const skipped = (passage: SkippedText) => {
      if (!reported.has(passage.text)) this.#reports.skipped(passage);
      reported.add(passage.text);
    };
    const speak = (attempt: AbortSignal) =>
      resampleStream(
        speechScheduler.speak(text, this.#voiceId, this.#demand, attempt, { skipped }),
        this.#playout.sampleRate,
      );
    return promptly(speak, { system, ms: SPEECH_MS, late: () => new SpeechFailed(LATE), signal });
  }

  /** Stops at once, and keeps what was not heard for {@link release}. */
  hold(): void {
    if (this.#held) return;
    this.#held = true;
    this.#playout.clear(); // a leg that pulls ahead reports now what it has sent
    for (const utterance of this.#utterances) utterance.hold();
  }

  /** Goes on after {@link hold}. */
  release(): void {
    if (!this.#held) return;
    this.#held = false;
    this.#play(this.#utterances);
  }

  /** Goes on with what the callee has interrupted; resolves when all of it is queued. */
  async resume(signal: AbortSignal): Promise<void> {
    const dropped = this.#dropped.splice(0);
    const unrendered = dropped.findIndex(({ rendered }) => !rendered);
    const rendered = unrendered < 0 ? dropped : dropped.slice(0, unrendered);
    this.#utterances.push(...rendered);
    this.#play(rendered);
    if (unrendered >= 0)
      for (const { text, interruptible } of dropped.slice(unrendered)) await this.say(text, interruptible, signal);
  }

  #play(utterances: readonly Utterance[]): void {
    for (const utterance of utterances) {
      this.#markStart(utterance);
      utterance.playRest();
      if (utterance.rendered) this.#markEnd(utterance);
    }
  }

  /** The callee interrupts: what is being played stops, and the rest of the reply is not spoken, unless it is resumed. */
  interrupt(): void {
    this.#interrupted = true;
    this.#rendering.abort();
    this.hold();
    this.#dropped = [...this.#cut(), ...this.#dropped];
    this.#held = false;
  }

  /** The call is over: reports the text that was being played. */
  finish(): void {
    this.#rendering.abort();
    this.hold();
    this.#cut();
  }

  #markStart(utterance: Utterance): void {
    this.#playout.mark("", () => {
      utterance.begin();
      this.#reports.begun();
    });
  }

  #markEnd(utterance: Utterance): void {
    this.#playout.mark("", () => {
      this.#utterances.splice(this.#utterances.indexOf(utterance), 1);
      this.#report(utterance.heardToEnd());
    });
  }

  /** Reports the beginning of the text that was being played; returns the texts that were not played to their end. */
  #cut(): Utterance[] {
    const cut = this.#utterances.splice(0);
    for (const utterance of cut) this.#report(utterance.heardUntilHeld());
    return cut;
  }

  #report(line: SpokenLine | undefined): void {
    if (line !== undefined) this.#reports.spoken(line);
  }
}
