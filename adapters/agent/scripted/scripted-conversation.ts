import { comparable } from "../../../src/base/comparable.ts";
import type { CallResult } from "../../../src/domain/calls/call.ts";
import type {
  AgentBrief,
  Conversation,
  ConversationAction,
  ConversationInput,
} from "../../../src/ports/conversation.ts";
import type { Phrases } from "../agent-phrases.ts";
import { answerByKeys, answerByKeysAlone, answerByWords, type CalleeReply, withKey } from "./answer.ts";
import { questions } from "./parse-script.ts";
import { type Ask, type BranchStep, needsWords, type Script } from "./script.ts";
import { ScriptTexts } from "./script-texts.ts";

/** Time to wait for the answer to a question, ms. */
const ANSWER_MS = 8_000;
/** Time to wait for the next digit of an unfinished number, ms. */
const NEXT_DIGIT_MS = 3_000;
/** Maximum number of times a question is asked. */
const ATTEMPTS = 3;
/** Maximum number of questions in one call, repeated ones included: a script may loop. */
const MAX_QUESTIONS = 100;
/** Time for which an agent that does not speak first waits for the callee, ms. */
const FIRST_WORDS_MS = 5_000;

/** Position in a script. */
interface Position {
  /** Index of the next step of the script. */
  readonly next: number;
  /** The question that waits for an answer. */
  readonly openQuestion: Ask | undefined;
  /** Keys pressed since that question was asked. */
  readonly pressedKeys: string;
  /** Number of times the question has been asked. */
  readonly attempts: number;
  /** Number of questions asked in the call so far, repeated ones included. */
  readonly questions: number;
  /** The answers to the questions that have a name. */
  readonly answers: Readonly<Record<string, string>>;
}

const START: Position = { next: 0, openQuestion: undefined, pressedKeys: "", attempts: 0, questions: 0, answers: {} };

/** Conducts one call according to a script. It advances only while the core reads a reply. */
export class ScriptedConversation implements Conversation {
  readonly #script: Script;
  readonly #brief: AgentBrief;
  #hasBegun = false;
  readonly #phrases: Phrases;
  readonly #texts: ScriptTexts;
  #position: Position = START;
  /** Position in the script before the callee's latest words. */
  #previousPosition: Position | undefined;
  /** Continuation if the pending transfer fails; undefined if no transfer is pending. */
  #onTransferFailed: (() => Generator<ConversationAction, void>) | undefined;

  constructor(script: Script, brief: AgentBrief, phrases: Phrases) {
    this.#script = script;
    this.#brief = brief;
    this.#phrases = phrases;
    this.#texts = new ScriptTexts(script, brief, phrases);
  }

  /** The answers to the questions that have a name. */
  get result(): CallResult | undefined {
    const { answers } = this.#position;
    return Object.keys(answers).length > 0 ? { ...answers } : undefined;
  }

  *reply(input: ConversationInput): Generator<ConversationAction, void> {
    if (input.type === "voicemail") {
      yield* this.#texts.voicemail();
      return;
    }
    if (!this.#hasBegun) {
      yield* this.#begin(input);
      return;
    }
    switch (input.type) {
      case "key":
        yield* this.#key(input.digit);
        break;
      case "words":
        if (input.continued && this.#previousPosition !== undefined) this.#position = this.#previousPosition;
        this.#previousPosition = this.#position;
        yield* this.#handleWords(comparable(input.text));
        break;
      case "silence":
        yield* this.#silence();
        break;
      case "unheard":
        if (this.#position.openQuestion !== undefined)
          yield* this.#repeatQuestion(this.#position.openQuestion, this.#phrases.sayAgain);
        break;
      case "fault":
        yield* this.#fault(input);
        break;
      case "ending":
        yield* this.#end(this.#phrases.timeIsUp);
        break;
      case "transfer_failed":
        yield* this.#transferFailed();
    }
  }

  /**
   * Apologises and fails. Without transcription, it does so only if a question needs words, because keys still arrive.
   */
  *#fault({ of, detail }: Extract<ConversationInput, { type: "fault" }>): Generator<ConversationAction, void> {
    if (of === "transcription" && !questions(this.#script.steps).some(needsWords)) return;
    yield { type: "say", text: this.#phrases.apology, interruptible: false };
    yield { type: "fail", detail };
  }

  /** Starts immediately, or on the callee's first words, a key, or silence. */
  *#begin({ type }: ConversationInput): Generator<ConversationAction, void> {
    const { firstMessage } = this.#brief;
    if (type === "begin" && firstMessage === null) {
      yield { type: "listen", forMs: FIRST_WORDS_MS };
      return;
    }
    this.#hasBegun = true;
    yield* this.#texts.opening(this.#asksLater);
    yield* this.#continue();
  }

  /** Runs the script to its next question or its end. */
  *#continue(): Generator<ConversationAction, void> {
    this.#position = { ...this.#position, openQuestion: undefined };
    for (;;) {
      const step = this.#script.steps[this.#position.next];
      this.#position = { ...this.#position, next: this.#position.next + 1 };
      if (step === undefined || step.do === "hang_up") {
        yield { type: "hang_up" };
        return;
      }
      if (step.do === "ask") {
        this.#position = { ...this.#position, attempts: 0 };
        yield* this.#ask(step);
        return;
      }
      if (step.do === "transfer") {
        yield* this.#transfer(step.to, () => this.#continue());
        return;
      }
      yield* this.#texts.say(step.text, this.#asksLater);
    }
  }

  *#transfer(to: string, otherwise: () => Generator<ConversationAction, void>): Generator<ConversationAction, void> {
    this.#onTransferFailed = otherwise;
    yield { type: "transfer", to };
  }

  *#transferFailed(): Generator<ConversationAction, void> {
    const next = this.#onTransferFailed;
    this.#onTransferFailed = undefined;
    if (next === undefined) return;
    yield* this.#texts.say(this.#phrases.notTransferred, false);
    yield* next();
  }

  /** True if a question follows: the callee may skip the words before it by answering. */
  get #asksLater(): boolean {
    for (const step of this.#script.steps.slice(this.#position.next)) if (step.do !== "say") return step.do === "ask";
    return false;
  }

  *#ask(question: Ask): Generator<ConversationAction, void> {
    const { attempts, questions: questionCount } = this.#position;
    this.#position = {
      ...this.#position,
      openQuestion: question,
      pressedKeys: "",
      attempts: attempts + 1,
      questions: questionCount + 1,
    };
    const maxQuestions = Math.min(MAX_QUESTIONS, this.#brief.maxTurns ?? MAX_QUESTIONS);
    if (questionCount >= maxQuestions) {
      yield { type: "hang_up", detail: `the agent was at its limit of ${maxQuestions} questions (maxTurns)` };
      return;
    }
    yield* this.#texts.say(question.text, true);
    yield { type: "listen", forMs: ANSWER_MS };
  }

  *#key(key: string): Generator<ConversationAction, void> {
    const question = this.#position.openQuestion;
    if (question === undefined) return;
    const pressedKeys = withKey(question, this.#position.pressedKeys, key);
    this.#position = { ...this.#position, pressedKeys };
    const answer = answerByKeys(question, pressedKeys, key);
    if (answer.kind === "partial") yield { type: "listen", forMs: NEXT_DIGIT_MS };
    else yield* this.#follow(question, answer);
  }

  *#handleWords(text: string): Generator<ConversationAction, void> {
    const question = this.#position.openQuestion;
    if (question === undefined || text === "") return;
    const answer = answerByWords(question, text);
    if (answer.kind === "match") yield* this.#follow(question, answer);
    else {
      // A remark that is not an answer does not count as a wrong answer.
      yield { type: "resume" };
      yield { type: "listen", forMs: ANSWER_MS };
    }
  }

  *#silence(): Generator<ConversationAction, void> {
    const { openQuestion: question, pressedKeys, attempts } = this.#position;
    if (question === undefined) return;
    if (pressedKeys !== "") yield* this.#follow(question, answerByKeysAlone(question, pressedKeys));
    else if (attempts < ATTEMPTS) yield* this.#ask(question);
    else if (question.noAnswer !== undefined) yield* this.#acceptAnswer(question.noAnswer, undefined);
    else yield* this.#giveUp();
  }

  *#follow(question: Ask, answer: CalleeReply): Generator<ConversationAction, void> {
    if (answer.kind === "match") yield* this.#acceptAnswer(answer.steps, answer.text);
    else yield* this.#rejectAnswer(question);
  }

  /** Handles an answer that is not among the question's choices. */
  *#rejectAnswer(question: Ask): Generator<ConversationAction, void> {
    if (question.otherwise !== undefined) yield* this.#acceptAnswer(question.otherwise, this.#position.pressedKeys);
    else yield* this.#repeatQuestion(question, this.#phrases.notAChoice);
  }

  /** Repeats the question, up to the limit. */
  *#repeatQuestion(question: Ask, reason: string): Generator<ConversationAction, void> {
    if (this.#position.attempts >= ATTEMPTS) {
      yield* this.#giveUp();
      return;
    }
    yield* this.#texts.say(reason, true);
    yield* this.#ask(question);
  }

  *#giveUp(): Generator<ConversationAction, void> {
    yield* this.#end(this.#phrases.noAnswer);
  }

  *#end(text: string): Generator<ConversationAction, void> {
    this.#position = { ...this.#position, openQuestion: undefined };
    yield* this.#texts.say(text, false);
    yield { type: "hang_up" };
  }

  /** Stores the answer, runs its branch, then continues after the question. */
  *#acceptAnswer(steps: readonly BranchStep[], answer: string | undefined): Generator<ConversationAction, void> {
    const { openQuestion: question, answers } = this.#position;
    if (question?.name !== undefined && answer !== undefined)
      this.#position = { ...this.#position, answers: { ...answers, [question.name]: answer } };
    yield* this.#branch(steps, question);
  }

  /** Carries out the steps of a branch. @param question the answered question */
  *#branch(steps: readonly BranchStep[], question: Ask | undefined): Generator<ConversationAction, void> {
    this.#position = { ...this.#position, openQuestion: undefined };
    for (const [index, step] of steps.entries()) {
      switch (step.do) {
        case "say":
          yield* this.#texts.say(step.text, false);
          break;
        case "transfer":
          yield* this.#transfer(step.to, () => this.#branch(steps.slice(index + 1), question));
          return;
        case "ask_again":
          if (question === undefined) break;
          yield* this.#ask(question);
          return;
        case "go_to":
          this.#position = {
            ...this.#position,
            next: this.#script.steps.findIndex((candidate) => candidate.do === "ask" && candidate.name === step.to),
          };
          yield* this.#continue();
          return;
        case "hang_up":
          yield { type: "hang_up" };
          return;
        default:
          step satisfies never;
      }
    }
    yield* this.#continue();
  }
}
