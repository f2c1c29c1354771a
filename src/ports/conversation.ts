import { CodedError } from "../base/error.ts";
import type { Variables } from "../domain/agents/agent-variables.ts";
import type { CallResult } from "../domain/calls/call.ts";
import type { JsonSchema } from "../domain/input/json-schema.ts";
import type { OfferedTool } from "./agent-tool.ts";

/**
 * An agent that conducts calls: it decides what to say next from the callee's keys and words.
 *
 * The core controls the timing. It speaks the sentences, tracks how much of them the callee has heard, stops them if
 * the callee interrupts, detects silence, and hangs up. An agent therefore never sleeps and never handles audio.
 */
export interface Agent {
  /** An agent that handles audio itself is an `AudioAgent`. */
  readonly kind?: "text" | undefined;
  /** Name for events and logs: `scripted`. */
  readonly name: string;
  /**
   * Checks before dialling that the agent can conduct a call with these instructions. Returns immediately.
   * @throws {AgentUnavailable} it cannot; the message names the instruction and the fix
   */
  check(brief: AgentBrief): void;
  /** Starts the conversation of one call while the phone is still ringing. */
  begin(brief: AgentBrief): Conversation;
  close(): Promise<void>;
}

/** The agent's brief for one call. */
export interface AgentBrief {
  readonly callId: string;
  /** Natural-language instructions, in order; `{{name}}` in them refers to a variable (`filledIn` fills them in). */
  readonly instructions: readonly string[];
  /** First words; null: the callee speaks first. Default: the agent decides. */
  readonly firstMessage?: string | null | undefined;
  /** Values of the variables: data, never instructions. Without them, `{{name}}` has no meaning. */
  readonly variables?: Variables | undefined;
  /** Maximum number of replies after which the agent says goodbye. Default: its own limit. */
  readonly maxTurns?: number | undefined;
  /** JSON Schema of the findings, for `report`. Default: no findings are requested. */
  readonly resultSchema?: JsonSchema | undefined;
  /** BCP 47 tag of the language to speak: `pt-BR`. */
  readonly language: string;
  /** True if the agent receives the callee's words, not just pressed keys. */
  readonly hearsWords: boolean;
  /** Tools that the agent's model may use on this call, besides the agent's own actions. Default: none. */
  readonly tools?: readonly OfferedTool[] | undefined;
  /** True if the network can transfer the call to another number. Default: false. */
  readonly canTransfer?: boolean | undefined;
  /**
   * The only numbers that the call may be transferred to, E.164. Default: numbers that the instructions fix, for
   * example in a script step; never a number chosen by a model or by the callee.
   */
  readonly transferTo?: readonly string[] | undefined;
}

/** The conversation of one call. */
export interface Conversation {
  /** Current result, stored with the call when it ends; undefined if there is none. */
  readonly result?: CallResult | undefined;
  /** Time the model took for the first token of the latest reply, ms; undefined if there is no model. For metrics. */
  readonly firstTokenMs?: number | undefined;
  /**
   * Maximum time without output from a reply while none of the call's tools is running, ms. After that, the core
   * requests the reply once more, unless the reply has begun or a tool has been used; if that fails too, it apologises
   * and fails the call. Default: 10,000. Read before each action; an agent with its own time limits returns a longer
   * time.
   */
  readonly replyTimeoutMs?: number | undefined;
  /**
   * Reports the result, as JSON that matches {@link AgentBrief.resultSchema}; the core checks it, and asks once more if
   * it does not match. Called if the call has such a schema, after the last reply has begun or the call has ended.
   * Without this method, `result` is checked.
   * @param request.fault fault of the previous value; undefined at first
   * @throws if there is no result; the message is for an operator
   */
  report?(request: { readonly fault?: string | undefined }, signal: AbortSignal): Promise<unknown>;
  /**
   * Called before each reply except the first: the words of the agent that the callee has heard since the previous
   * reply.
   */
  heard?(text: string): void;
  /**
   * Called when the callee has probably said this, and the turn is about to end: the agent may start to prepare its
   * reply. No speech or action follows until the words arrive as an input, and they may never arrive. Called between
   * two replies, after {@link heard}; only the latest call counts. Returns immediately.
   * @param signal aborted when the call ends
   */
  prepare?(input: Extract<ConversationInput, { type: "words" }>, signal: AbortSignal): void;
  /**
   * The agent's reply to an event, as actions in the order in which to carry them out. The core reads one reply to its
   * end before it requests the next.
   * @param signal aborted when the rest of the reply is not needed: the callee interrupts, or the call ends
   * @throws the conversation cannot continue; the call then fails as `agent_failed`, with the message as its detail
   */
  reply(
    input: ConversationInput,
    signal: AbortSignal,
  ): AsyncIterable<ConversationAction> | Iterable<ConversationAction>;
}

/** Inputs of a conversation. */
export type ConversationInput =
  /** The call is being placed. From now on, speech is played after the answer. */
  | { readonly type: "begin" }
  /** The callee pressed a key: 0-9 * # A-D. */
  | { readonly type: "key"; readonly digit: string }
  /**
   * The callee said this, from one silence to the next. `continued`: they continued before any part of the reply to the
   * previous words was heard; `text` starts with those words and replaces them.
   */
  | { readonly type: "words"; readonly text: string; readonly continued?: true | undefined }
  /** The callee said something that could not be transcribed; `detail` is for an operator. */
  | { readonly type: "unheard"; readonly detail: string }
  /**
   * The rest of the call is impaired; `detail` explains it to an operator. `transcription`: words no longer
   * arrive, keys do. `speech`: a text could not be spoken; the next one may be.
   */
  | { readonly type: "fault"; readonly of: "transcription" | "speech"; readonly detail: string }
  /** The call will end in some seconds, at its maximum duration: the last opportunity to say goodbye. */
  | { readonly type: "ending" }
  /** Nothing happened for the time of the last `listen`. */
  | { readonly type: "silence" }
  /** A machine has answered and is recording: the reply is the message. The call ends after it, uninterrupted. */
  | { readonly type: "voicemail" }
  /** A `transfer` did not succeed, and the callee is still here. `detail`: the network's reason, which is data. */
  | { readonly type: "transfer_failed"; readonly to: string; readonly detail: string };

/** Actions of an agent. */
export type ConversationAction =
  | {
      readonly type: "say";
      /** 1 to 4096 characters. */
      readonly text: string;
      /**
       * True if the callee can interrupt it, with a key or with words. Keys and words during any other text are
       * ignored.
       */
      readonly interruptible: boolean;
    }
  /** Waits for the callee; `silence` follows if nothing happens within this time after the last word, ms. */
  | { readonly type: "listen"; readonly forMs: number }
  /** Resumes the speech that the callee's words interrupted, because they were not an answer. */
  | { readonly type: "resume" }
  /** Sends keys to the other side, such as the menu of a machine: 0-9 * # A-D. */
  | { readonly type: "press"; readonly keys: string }
  /**
   * Transfers the call to another number once all that was said has been heard; neither can be interrupted. The call
   * ends if that succeeds; otherwise `transfer_failed` follows. Ignored if the callee has interrupted the reply.
   */
  | { readonly type: "transfer"; readonly to: string }
  /**
   * A machine has answered: waits until it records, says the whole text, and ends the call. Ignored if `text` is empty.
   */
  | { readonly type: "leave_voicemail"; readonly text: string }
  /** Ends the call as `agent_failed` once all that was said has been heard. */
  | { readonly type: "fail"; readonly detail: string }
  /**
   * Ends the call once all that was said has been heard. `detail`: the reason, for an operator, if the call did not
   * serve its purpose.
   */
  | { readonly type: "hang_up"; readonly detail?: string | undefined };

/** Thrown by an agent that cannot conduct a call. The message names the cause and the fix. */
export class AgentUnavailable extends CodedError {
  override readonly name = "AgentUnavailable";
  readonly code = "agent_unavailable";
}
