import { type LineTone, TONE_MEANINGS } from "../tones/line-tones.ts";
import { isCallScreening } from "./screening-phrases.ts";
import { isVoicemailGreeting } from "./voicemail-phrases.ts";

/** Answerers that can be distinguished. */
export const ANSWERERS = ["human", "machine", "fax", "screening", "unknown"] as const;
/** Answerer of a call, if known. */
export type AnsweredBy = (typeof ANSWERERS)[number];

/** Reason for a verdict: the evidence, or the source of the decision. */
export const ANSWER_REASONS = [
  "short_greeting",
  "long_greeting",
  "beep",
  "words",
  "key",
  "agent",
  "silence",
  "no_speech",
  "fax_tone",
  "network_tone",
] as const;
export type AnswerReason = (typeof ANSWER_REASONS)[number];

/** Answerer, and the reason for that verdict. */
export interface AnswerVerdict {
  readonly answeredBy: AnsweredBy;
  readonly reason: AnswerReason;
  /** Certainty from 0, a guess, to 1, certain. */
  readonly confidence: number;
  /** Time of the verdict, ms since the answer. */
  readonly atMs: number;
}

/** Behaviour once a machine has answered. */
export const MACHINE_POLICIES = ["continue", "hang_up", "leave_message"] as const;
/** Continue as with a person, hang up, or wait for the beep and leave the message. */
export type OnMachine = (typeof MACHINE_POLICIES)[number];

/** Signs that a machine has started to record: its beep, or a long silence after its greeting; or no sign. */
export const GREETING_ENDS = ["beep", "silence", "timeout"] as const;
export type GreetingEnd = (typeof GREETING_ENDS)[number];

/** Minimum length of a machine's greeting, which is speech without pauses of {@link pauseAfter}, ms. */
export const LONG_GREETING_MS = 6_000;
/** Minimum length of a word, ms. */
export const MIN_WORD_MS = 120;
/** Longest pause within a greeting, ms. */
const MAX_PAUSE_MS = 1_500;
/** Minimum length of a machine's words before its beep, ms: shorter sounds may be notes. */
export const MIN_GREETING_MS = 500;
/** Maximum time without a word, ms; after that the answerer is unknown. */
export const FIRST_WORD_MS = 6_000;
/** Time after the latest word during which a beep still proves a machine, ms. */
export const BEEP_WAIT_MS = 5_000;
/** Time after the answer during which sounds can change the verdict, ms. */
export const ANALYSIS_MS = 20_000;
/** Length of the silence after a greeting that shows that the machine is recording without a beep, ms. */
export const RECORDS_AFTER_MS = 3_000;
/** Maximum time after that silence in which a beep still starts the recording, ms. */
export const LATE_BEEP_MS = 10_000;
/** Maximum time that a call that has finished playing waits for the verdict, ms. */
export const VERDICT_WAIT_MS = 8_000;
/** Time after a verdict until the words of the greeting are known, ms. */
export const WORDS_WAIT_MS = 3_000;
/** Maximum time that a call that has finished playing waits for a tone to be recognised, ms. */
export const TONE_WAIT_MS = 5_000;
/** Maximum time that a call waits for the end of a machine's greeting, ms. */
export const VOICEMAIL_WAIT_MS = 40_000;
/** Frequency below which a tone is a network's ringing tone, unless it follows speech, Hz. */
export const MAX_RINGING_HZ = 510;

/**
 * Minimum silence after a greeting of this length that shows that a person is waiting for a reply, ms: machines pause
 * between sentences too.
 */
export function pauseAfter(greetingMs: number): number {
  if (greetingMs <= 1_300) return 650;
  return greetingMs <= 2_500 ? 800 : 1_000;
}

/**
 * Decides who has answered: a person greets briefly and waits, a machine keeps talking and then beeps. Receives the
 * sound frame by frame, on the leg's own clock, and allocates nothing but a verdict.
 *
 * A verdict may be followed by another: a beep or a machine's words after a short greeting, words after a silence.
 */
export class AnswerRules {
  readonly #hangOverMs: number;
  #clockMs = 0;
  /** Beginning of the greeting; undefined before its first word. */
  #startMs: number | undefined;
  /** Length of the silence before that, ms. */
  #pauseMs = 0;
  #lastVoiceMs = 0;
  #voicedMs = 0;
  /** Length of voice that was steadier than speech, ms. */
  #steadyMs = 0;
  #isSteady = false;
  /** True if non-speech sounds were heard. */
  #hadOtherSounds = false;
  /** True if there was speech. */
  #hasSpoken = false;
  #verdict: AnswerVerdict | undefined;

  /** @param hangOverMs time still reported as voice after the voice has ended, ms */
  constructor(hangOverMs = 0) {
    this.#hangOverMs = hangOverMs;
  }

  /** The verdict so far; undefined if there is none. */
  get verdict(): AnswerVerdict | undefined {
    return this.#verdict;
  }

  /** True if further sound cannot change the verdict. */
  get isDone(): boolean {
    return this.#clockMs > ANALYSIS_MS;
  }

  /** True once even a tone that began within the analysis time has ended. */
  get isSettled(): boolean {
    return this.#clockMs > ANALYSIS_MS + TONE_WAIT_MS;
  }

  /** Length of the silence since the latest word, ms. */
  get quietMs(): number {
    return this.#clockMs - this.#lastVoiceMs;
  }

  /**
   * Handles the next `ms` of the callee's audio; returns a new verdict.
   * @param isSteady true if the voice is as steady as music or ringing
   */
  onAudio(isVoice: boolean, isSteady: boolean, ms: number): AnswerVerdict | undefined {
    this.#clockMs += ms;
    return isVoice ? this.#onVoice(isSteady, ms) : this.#onSilence();
  }

  /** Handles a tone that has ended and may be a beep; returns a new verdict. */
  beep(hz: number, atMs: number): AnswerVerdict | undefined {
    if (!this.isBeep(hz) || this.#isMachine) return undefined;
    const isLate = this.#hasSpoken && atMs - this.#lastVoiceMs > BEEP_WAIT_MS;
    if (isLate || atMs > ANALYSIS_MS) return undefined;
    return this.#decide("machine", "beep", this.#hasSpoken ? 0.95 : 0.75);
  }

  /** True if a tone is the beep of a machine, rather than the ringing of a network. */
  isBeep(hz: number): boolean {
    if (this.#hasSpoken) return true;
    const spokenMs = this.#voicedMs - this.#hangOverMs;
    if (spokenMs >= MIN_WORD_MS) return this.#isSpeech && spokenMs >= MIN_GREETING_MS;
    return hz > MAX_RINGING_HZ && !this.#hadOtherSounds;
  }

  /** Handles a known tone; returns a new verdict. Tones are certain, so they decide at any time. */
  tone(tone: LineTone): AnswerVerdict | undefined {
    const { verdict, followsPerson } = TONE_MEANINGS[tone];
    const previous = this.#verdict?.answeredBy;
    if (verdict === undefined || previous === verdict.answeredBy || previous === "fax") return undefined;
    if (followsPerson && previous === "human") return undefined;
    return this.#setVerdict(verdict.answeredBy, verdict.reason, 0.95);
  }

  /** Handles a person who takes a screened call; returns the verdict. */
  person(): AnswerVerdict {
    return this.#setVerdict("human", "words", 0.9);
  }

  /** Handles words from the callee; returns a new verdict. */
  words(text: string): AnswerVerdict | undefined {
    if (isCallScreening(text)) return this.#onScreening();
    if (this.isDone || this.#isMachine || !isVoicemailGreeting(text)) return undefined;
    return this.#decide("machine", "words", 0.97);
  }

  /** Handles a key from the callee, which only a person can press; returns a new verdict. */
  key(): AnswerVerdict | undefined {
    const { answeredBy = "unknown" } = this.#verdict ?? {};
    return answeredBy === "unknown" ? this.#decide("human", "key", 0.9) : undefined;
  }

  /** An assistant talks as long as a machine, but neither beeps nor asks for a message. */
  #onScreening(): AnswerVerdict | undefined {
    const { answeredBy, reason } = this.#verdict ?? {};
    const isCertain = answeredBy === "screening" || answeredBy === "fax" || reason === "beep" || reason === "words";
    return isCertain ? undefined : this.#decide("screening", "words", 0.95);
  }

  get #isMachine(): boolean {
    const answeredBy = this.#verdict?.answeredBy;
    return answeredBy === "machine" || answeredBy === "fax";
  }

  #onVoice(isSteady: boolean, ms: number): AnswerVerdict | undefined {
    if (this.#startMs === undefined) {
      this.#startMs = this.#clockMs - ms;
      this.#pauseMs = this.#startMs - this.#lastVoiceMs;
    }
    this.#lastVoiceMs = this.#clockMs;
    this.#voicedMs += ms;
    this.#isSteady = isSteady;
    if (isSteady) this.#steadyMs += ms;
    if (this.#clockMs - this.#startMs < LONG_GREETING_MS + this.#hangOverMs) return undefined;
    const isSpeech = this.#isSpeech;
    const { answeredBy } = this.#verdict ?? {};
    const isContinued = answeredBy === "human" && this.#pauseMs <= MAX_PAUSE_MS;
    this.#endGreeting(isSpeech);
    if (!isSpeech) return this.#decideUnknown("no_speech");
    if (this.#isMachine || answeredBy === "screening" || (answeredBy === "human" && !isContinued)) return undefined;
    return this.#decide("machine", "long_greeting", isContinued ? 0.7 : 0.85);
  }

  #onSilence(): AnswerVerdict | undefined {
    const quietMs = this.quietMs + this.#hangOverMs;
    if (this.#startMs === undefined) {
      if (this.#clockMs < FIRST_WORD_MS || this.#hasSpoken) return undefined;
      return this.#decideUnknown(this.#hadOtherSounds ? "no_speech" : "silence");
    }
    const greetingMs = this.#lastVoiceMs - this.#hangOverMs - this.#startMs;
    if (quietMs < pauseAfter(greetingMs)) return undefined;
    const isSpeech = this.#isSpeech && this.#voicedMs - this.#hangOverMs >= MIN_WORD_MS;
    this.#endGreeting(isSpeech);
    if (!isSpeech || (this.#verdict !== undefined && this.#verdict.answeredBy !== "unknown")) return undefined;
    return this.#decide("human", "short_greeting", greetingMs <= 1_300 ? 0.9 : greetingMs <= 2_500 ? 0.8 : 0.65);
  }

  get #isSpeech(): boolean {
    return !this.#isSteady && this.#steadyMs * 2 < this.#voicedMs;
  }

  #endGreeting(isSpeech: boolean): void {
    if (isSpeech) this.#hasSpoken = true;
    else if (this.#isSteady) this.#hadOtherSounds = true;
    this.#startMs = undefined;
    this.#voicedMs = this.#steadyMs = 0;
  }

  #decideUnknown(reason: AnswerReason): AnswerVerdict | undefined {
    return this.#verdict === undefined ? this.#decide("unknown", reason, 0) : undefined;
  }

  #decide(answeredBy: AnsweredBy, reason: AnswerReason, confidence: number): AnswerVerdict | undefined {
    return this.isDone ? undefined : this.#setVerdict(answeredBy, reason, confidence);
  }

  #setVerdict(answeredBy: AnsweredBy, reason: AnswerReason, confidence: number): AnswerVerdict {
    this.#verdict = { answeredBy, reason, confidence, atMs: Math.round(this.#clockMs) };
    return this.#verdict;
  }
}
