import type { Playout } from "../../../audio/playout/playout.ts";
import { resampleStream } from "../../../audio/samples/resample-stream.ts";
import { errorText } from "../../../base/error.ts";
import type { Call } from "../../../domain/calls/call.ts";
import type { SkippedText } from "../../../domain/spoken-text/speakable-text.ts";
import { SpeechFailed } from "../../../ports/speech.ts";
import type { Context } from "../../context.ts";
import { MessageDemand } from "../call-types/prepared-message.ts";
import { promptly } from "../speech/promptly.ts";
import { UnspeakableText } from "../speech/speech-scheduler.ts";
import { type SpokenLine, SpokenQueue, Utterance } from "./spoken-queue.ts";

/** Dependencies of {@link AgentSpeech}. */
export type AgentSpeechContext = Pick<Context, "speechScheduler" | "system">;

/** Longest wait for the next piece of speech, ms. */
const SPEECH_TIMEOUT_MS = 10_000;
const TIMEOUT_DETAIL = `the speech engine sent nothing for ${SPEECH_TIMEOUT_MS} ms`;

/** Callbacks of an {@link AgentSpeech}. */
export interface SpeechReports {
  /** Called when the engine returns the first samples of a text. */
  onRendered(): void;
  /** Called when playback of a text starts. */
  onStart(): void;
  /** Called when a text has been played or interrupted. */
  onSpoken(line: SpokenLine): void;
  /** Called for each part of a text that the voice cannot speak. */
  onSkipped(passage: SkippedText): void;
}

/** The agent's voice: speaks texts in order, stops on an interruption, and tracks what was heard. */
export class AgentSpeech {
  readonly #context: AgentSpeechContext;
  readonly #voiceId: string;
  readonly #playout: Playout;
  readonly #demand: MessageDemand;
  readonly #reports: SpeechReports;
  readonly #queue: SpokenQueue;
  /** Aborted to stop the text that is being rendered. */
  #rendering = new AbortController();
  /** Texts that the callee has interrupted, until the agent speaks again. */
  #interruptedTexts: Utterance[] = [];

  constructor(
    context: AgentSpeechContext,
    call: Call,
    voiceId: string,
    playout: Playout,
    turn: { readonly isHeld: boolean },
    reports: SpeechReports,
  ) {
    this.#context = context;
    this.#voiceId = voiceId;
    this.#playout = playout;
    this.#reports = reports;
    this.#queue = new SpokenQueue(playout, turn, reports);
    this.#demand = new MessageDemand(call);
    this.#demand.playout = playout;
  }

  /** True if a text that the callee cannot interrupt is being played or queued. */
  get mustBeHeard(): boolean {
    return this.#queue.utterances.some(({ interruptible }) => !interruptible);
  }

  /** True if a text has not been played to its end. */
  get isSpeaking(): boolean {
    return this.#queue.utterances.length > 0;
  }

  /** True if the callee hears the first text, or has heard a part of it. */
  get hasStarted(): boolean {
    return this.#queue.hasStarted;
  }

  /**
   * Speaks a text after the earlier texts; resolves when it is fully queued or has been interrupted.
   * @param interruption aborted when the callee interrupts the reply: an interruptible text is then only kept, for
   *   {@link resume}
   * @throws {SpeechFailed} or the signal's reason
   */
  async say(text: string, interruptible: boolean, signal: AbortSignal, interruption?: AbortSignal): Promise<void> {
    const utterance = new Utterance(text, interruptible, this.#playout);
    if (interruption?.aborted && interruptible) {
      this.#interruptedTexts.push(utterance);
      return;
    }
    this.#interruptedTexts = [];
    this.#queue.push(utterance);
    this.#rendering = new AbortController();
    const stopSignal = AbortSignal.any([signal, this.#rendering.signal]);
    try {
      for await (const samples of this.#render(text, stopSignal)) {
        if (stopSignal.aborted) break;
        if (utterance.samples === 0) this.#reports.onRendered();
        this.#queue.add(utterance, samples);
      }
    } catch (error) {
      if (!stopSignal.aborted) {
        utterance.abandon();
        this.#queue.end(utterance);
        // A sentence in an unsupported script is reported; the rest of the reply is spoken.
        if (error instanceof UnspeakableText) return;
        throw error instanceof SpeechFailed ? error : new SpeechFailed(errorText(error), { cause: error });
      }
    }
    signal.throwIfAborted();
    if (this.#rendering.signal.aborted) return;
    utterance.markRendered();
    this.#queue.end(utterance);
  }

  /** The samples of a text; a request that yields no samples in time is repeated once. */
  #render(text: string, signal: AbortSignal): AsyncIterable<Int16Array> {
    const { speechScheduler, system } = this.#context;
    const reportedTexts = new Set<string>();
    const reportSkipped = (passage: SkippedText) => {
      if (!reportedTexts.has(passage.text)) this.#reports.onSkipped(passage);
      reportedTexts.add(passage.text);
    };
    const speak = (attemptSignal: AbortSignal) =>
      resampleStream(
        speechScheduler.speak(text, this.#voiceId, this.#demand, attemptSignal, { onSkipped: reportSkipped }),
        this.#playout.sampleRate,
      );
    return promptly(speak, {
      system,
      ms: SPEECH_TIMEOUT_MS,
      lateError: () => new SpeechFailed(TIMEOUT_DETAIL),
      signal,
    });
  }

  /** Continues with the texts that the callee has interrupted; resolves when all of them are queued. */
  async resume(signal: AbortSignal, interruption: AbortSignal): Promise<void> {
    const utterances = this.#interruptedTexts.splice(0);
    const unrendered = utterances.findIndex(({ isRendered }) => !isRendered);
    for (const utterance of unrendered < 0 ? utterances : utterances.slice(0, unrendered)) this.#queue.push(utterance);
    if (unrendered >= 0)
      for (const { text, interruptible } of utterances.slice(unrendered))
        await this.say(text, interruptible, signal, interruption);
  }

  /** Stops at once, and keeps the unheard part for {@link release}. */
  hold(): void {
    this.#queue.hold();
  }

  /** Plays the unheard part. */
  release(): void {
    this.#queue.release();
  }

  /** Drops the held texts when the callee interrupts; they are spoken only if resumed. */
  cut(): void {
    this.#rendering.abort();
    this.#interruptedTexts = [...this.#queue.cut(), ...this.#interruptedTexts];
  }

  /** Ends with the call: reports the text that was being played. */
  finish(): void {
    this.#rendering.abort();
    this.#queue.cut();
  }
}
