import { samplesToMs } from "../../audio/samples/pcm.ts";
import { isCallScreening, isScreeningFollowUp } from "../../domain/answering/screening-phrases.ts";
import { isVoicemailGreeting } from "../../domain/answering/voicemail-phrases.ts";
import type { PersonWait } from "../../domain/calls/call-signal.ts";
import type { CallTap } from "./call-tap.ts";
import type { LiveCallMedia } from "./call-types/call-type-program.ts";

/** Silence that shows that the assistant has finished its question, ms. */
const PROMPT_END_MS = 600;
/** Delay before an assistant that keeps talking gets the introduction, ms. */
const MAX_PROMPT_MS = 8_000;
/** Minimum length of a person's greeting after a ringing phone, ms. */
const GREETING_MS = 200;
/** Silence that ends this greeting, ms. */
const GREETING_END_MS = 400;
/** Length from which a greeting needs no pause after it, ms. */
const MAX_GREETING_MS = 2_000;

/** Callbacks of a {@link PersonWatch}. They run on the leg's clock and must not wait. */
export interface PersonReports {
  /** Called once, when the assistant waits for the introduction. */
  onPromptEnd(): void;
  /** Called once for each wait, when a person has taken the call. */
  onPerson(): void;
}

/** Detects when a person takes the call after a screening assistant or a ringing phone. Allocates nothing per frame. */
export class PersonWatch implements CallTap {
  readonly #callee: LiveCallMedia["callee"];
  readonly #sampleRate: number;
  readonly #reports: PersonReports;
  #state: "idle" | "prompt" | "introducing" | "words" | "ringing" = "idle";
  #waitedMs = 0;
  #voicedMs = 0;
  #quietMs = 0;

  /** @param callee analysis of the frame that is added next */
  constructor(callee: LiveCallMedia["callee"], sampleRate: number, reports: PersonReports) {
    this.#callee = callee;
    this.#sampleRate = sampleRate;
    this.#reports = reports;
  }

  /** True until a person has answered. */
  get isWaiting(): boolean {
    return this.#state !== "idle";
  }

  /** Starts waiting for a person. */
  awaitPerson(wait: PersonWait): void {
    this.#state = wait === "screening" ? "prompt" : "ringing";
    this.#waitedMs = this.#voicedMs = this.#quietMs = 0;
  }

  /** Called when the introduction has been played: from then on, words may be a person's. */
  onIntroductionPlayed(): void {
    if (this.#state === "introducing") this.#state = "words";
  }

  /** Stops waiting. */
  stop(): void {
    this.#state = "idle";
  }

  inbound(frame: Int16Array): void {
    if (this.#state !== "prompt" && this.#state !== "ringing") return;
    const ms = samplesToMs(frame.length, this.#sampleRate);
    this.#waitedMs += ms;
    if (this.#callee.isSpeech) {
      this.#voicedMs += ms;
      this.#quietMs = 0;
    } else this.#quietMs += ms;
    if (this.#state === "prompt") this.#checkPrompt();
    else this.#checkGreeting();
  }

  /** Handles a whole utterance of the callee. */
  words(text: string): void {
    if (this.#state !== "words") return;
    if (isCallScreening(text) || isScreeningFollowUp(text) || isVoicemailGreeting(text)) return;
    this.#personAnswered();
  }

  #checkPrompt(): void {
    if (this.#quietMs < PROMPT_END_MS && this.#waitedMs < MAX_PROMPT_MS) return;
    this.#state = "introducing";
    this.#reports.onPromptEnd();
  }

  #checkGreeting(): void {
    const spokenMs = this.#voicedMs - this.#callee.hangOverMs;
    if (spokenMs >= GREETING_MS && (this.#quietMs >= GREETING_END_MS || this.#voicedMs >= MAX_GREETING_MS))
      this.#personAnswered();
    // A sound of the network, not a word.
    else if (this.#quietMs >= GREETING_END_MS) this.#voicedMs = 0;
  }

  #personAnswered(): void {
    this.#state = "idle";
    this.#reports.onPerson();
  }
}
