import type { AnswerVerdict, GreetingEnd } from "../answering/answering-machine.ts";
import type { Fact } from "../events.ts";
import type { ToneFinding } from "../tones/line-tones.ts";
import type { CallMove } from "./call.ts";
import type { DialProgress } from "./dial-progress.ts";
import type { CompletedReason, FailedReason } from "./outcome.ts";
import type { RefusalScope, ReleaseCause } from "./release-cause.ts";

/** The reason why a call waits for a person. */
export type PersonWait = "screening" | "ringing";

/** The timers of a live call. */
export type TimerName = "ring" | "setup" | "inbound" | "duration" | "line" | "stream" | "machine" | "start";

/** The inputs of the call flow: from the leg, the message, the stream, the line, timers and callers. */
export type CallSignal =
  | { readonly type: "placed" }
  | { readonly type: "alerting" }
  | { readonly type: "answered" }
  | { readonly type: "connected" }
  /** `fault`: the callee's side has hung up because of a fault. `refusal`: the scope of a refusal by the network. */
  | {
      readonly type: "leg_ended";
      readonly cause: ReleaseCause;
      readonly detail: string | null;
      readonly fault?: boolean | undefined;
      readonly refusal?: RefusalScope | undefined;
    }
  | { readonly type: "media_lost"; readonly detail: string }
  | { readonly type: "inbound_audio" }
  /** The first evidence that the callee's side receives our audio. */
  | { readonly type: "evidence" }
  /** The whole message is ready to be played; its length, ms. */
  | { readonly type: "message_ready"; readonly messageMs: number }
  | { readonly type: "message_failed"; readonly reason: FailedReason; readonly detail: string }
  /** The message, or the last words of an agent, have been played. `detail`: the agent's reason for ending the call. */
  | { readonly type: "message_played"; readonly detail?: string | undefined }
  /** The callee has been connected with another number. */
  | { readonly type: "transferred"; readonly to: string; readonly detail: string | null }
  /** A client has attached to the stream, or its connection is lost. */
  | { readonly type: "stream_attached" }
  | { readonly type: "stream_detached" }
  /** The client has ended the call, and all of its audio has been played. */
  | { readonly type: "stream_closed" }
  /** A verdict about the answerer; a later one corrects an earlier one. */
  | { readonly type: "answered_by"; readonly verdict: AnswerVerdict }
  /** A known tone of a network or a machine was found; `verdict`: the resulting verdict about the answerer. */
  | { readonly type: "line_tone"; readonly finding: ToneFinding; readonly verdict: AnswerVerdict | undefined }
  /** A tone that may be one of these sounds or has just ended; or that suspicion has passed. */
  | { readonly type: "tone_suspected"; readonly isSuspected: boolean }
  /** A person has taken a call that waited for a person. */
  | { readonly type: "person_came"; readonly verdict: AnswerVerdict | undefined }
  /** The agent has decided that a machine answered, and leaves a message. `atMs`: after the answer. */
  | { readonly type: "leave_voicemail"; readonly atMs: number }
  /** The awaited machine has started to record. */
  | { readonly type: "greeting_over"; readonly end: GreetingEnd }
  /** The keys of the extension have been sent. `inBand`: as tones. */
  | { readonly type: "extension_dialled"; readonly inBand: boolean }
  /** The callee's first word has begun or ended, if the message waits for it. */
  | { readonly type: "first_word"; readonly hasEnded: boolean }
  | { readonly type: "noticed"; readonly fact: Fact }
  /** The line has gone down, by its own report or by a probe. */
  | { readonly type: "line_down"; readonly reason: string }
  /** `inboundSince`: inbound audio has arrived since the line went down. */
  | { readonly type: "line_up"; readonly inboundSince: boolean }
  /**
   * `inboundSince`: inbound audio has arrived since the timer was set. `progress`: progress of an unanswered call, if
   * known.
   */
  | {
      readonly type: "timer";
      readonly name: TimerName;
      readonly inboundSince: boolean;
      readonly progress?: DialProgress | undefined;
    }
  | { readonly type: "end"; readonly reason: FailedReason; readonly detail: string | null };

/** Effects that the call session carries out. */
export type CallEffect =
  /** Write the call's transition for this input, with its event. */
  | { readonly do: "move"; readonly input: Extract<CallMove, "place" | "connect"> }
  /** Write the final state; happens exactly once in the life of a call. */
  | {
      readonly do: "conclude";
      readonly input: Extract<CallMove, "complete" | "fail">;
      readonly reason: CompletedReason | FailedReason;
      readonly detail: string | null;
      readonly refusal?: RefusalScope | undefined;
    }
  /** The network was not asked yet: return the call to the queue. */
  | { readonly do: "requeue" }
  | { readonly do: "hang_up" }
  | { readonly do: "timer"; readonly name: TimerName; readonly ms: number }
  | { readonly do: "cancel"; readonly name: TimerName }
  /** Send the keys of the extension, and report when that is done. */
  | { readonly do: "dial_extension" }
  /** Report the next word of the callee. */
  | { readonly do: "await_first_word" }
  /** The audio of the call follows after this pause. */
  | { readonly do: "begin_message"; readonly delayMs: number }
  /** Stop the message, and report the end of the machine's greeting. */
  | { readonly do: "await_voicemail" }
  /** Play the message, from its beginning. */
  | { readonly do: "leave_message" }
  /** Stop the message, and report when a person takes the call; before that, an assistant gets the introduction. */
  | { readonly do: "await_person"; readonly reason: PersonWait }
  /** Stop the message, which no person has heard. */
  | { readonly do: "discard_message" }
  | { readonly do: "note"; readonly fact: Fact };
