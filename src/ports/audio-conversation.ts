import type { CallResult } from "../domain/calls/call.ts";
import type { AgentBrief } from "./conversation.ts";

/**
 * An agent that receives the callee's audio and replies with audio, such as a speech-to-speech model.
 *
 * The core controls the timing. It paces the agent's audio, however fast that arrives, tracks how much of it the callee
 * has heard, stops it if the callee interrupts, detects silence, and hangs up. An agent therefore never sleeps.
 */
export interface AudioAgent {
  readonly kind: "audio";
  /** Name for events and logs: `realtime`. */
  readonly name: string;
  /** True if its conversations report the callee's words; otherwise the server's transcription is used. */
  readonly transcribes: boolean;
  /**
   * Checks that the agent can conduct a call with these instructions. Returns immediately, without connecting to
   * anything.
   * @throws {AgentUnavailable} it cannot; the message names the cause and the fix
   */
  check(brief: AgentBrief): void;
  /**
   * Opens the conversation of one call before it is dialled. Resolves once the agent can conduct it. The signal is
   * aborted once the call has ended and, if it has a result schema, the result has been reported; by then the
   * conversation has no more audio.
   * @throws {AgentUnavailable} the agent cannot conduct the call, for example because of a wrong key; the message names
   *   the cause and the fix
   */
  open(brief: AgentBrief, signal: AbortSignal): Promise<AudioConversation>;
  close(): Promise<void>;
}

/** Encoding of audio: G.711 at 8000 Hz, one byte per sample, or 16-bit little-endian samples at 24,000 Hz. */
export type AudioFormat = "pcmu" | "pcma" | "pcm";

/** Sample rate of each format, Hz. */
export const FORMAT_RATES: Readonly<Record<AudioFormat, number>> = { pcmu: 8_000, pcma: 8_000, pcm: 24_000 };

/** The part of one item of the agent's audio that the callee has heard. */
export interface HeardItem {
  readonly item: string;
  /** Length of the heard audio, ms. */
  readonly heardMs: number;
  /** The words that were heard, approximately. */
  readonly text: string;
}

/** The conversation of one call. Apart from `report`, no method ever waits or throws. */
export interface AudioConversation {
  /**
   * The agent's speech and actions, for a single reader. The iteration ends when the conversation cannot continue, or
   * when the signal of `open` is aborted; the callee then hears the queued audio.
   */
  readonly events: AsyncIterable<AudioAgentEvent>;
  /** Current result, stored with the call when it ends; undefined if there is none. */
  readonly result?: CallResult | undefined;
  /**
   * Reports the result, as `Conversation.report` does. Called after `hang_up`, `fail` or the end of the call. Without
   * this method, `result` is checked.
   */
  report?(request: { readonly fault?: string | undefined }, signal: AbortSignal): Promise<unknown>;
  /**
   * Called when the callee has answered: the agent starts, or waits for the callee's words.
   * @param format format of the audio in both directions
   */
  answered(format: AudioFormat): void;
  /**
   * Called with the callee's next audio, in the format passed to `answered`. The array is reused: copy what you keep.
   */
  hear(audio: Uint8Array): void;
  /** Called when the callee has pressed a key, 0-9 * # A-D; the agent's speech has been stopped. */
  key(digit: string): void;
  /** Called when both sides have been silent for the duration set by the last `listen`. */
  silence(): void;
  /** Called when the transfer has failed, and the call continues. */
  transferFailed(detail: string): void;
  /**
   * Called when a machine has answered and is recording: the agent's next words are the message, after which it hangs
   * up. The agent gets no more of the callee's audio. This follows `leave_voicemail`, or comes at any time after the
   * answer, even after `hang_up`.
   */
  voicemail(): void;
  /** Called when the call will soon reach its maximum duration: the agent says goodbye and hangs up. */
  ending(): void;
  /**
   * Called on an interruption: the agent's speech stops, and its conversation must keep only the part that was heard.
   * @param items items that were not heard to their end, in order; none if the agent has not begun to speak
   */
  interrupted(items: readonly HeardItem[]): void;
}

/** The agent's speech and actions, in the order in which they are carried out. */
export type AudioAgentEvent =
  /** The agent starts a reply. Queued audio of an earlier reply is not played. */
  | { readonly type: "reply"; readonly to: "begin" | "key" | "words" | "silence" | "voicemail" }
  /**
   * Audio of an item, in the format of the call; a piece may end within a sample. It may arrive faster than it is
   * played.
   */
  | { readonly type: "audio"; readonly item: string; readonly bytes: Uint8Array }
  /** All the words of an item so far; they may arrive before or after its audio. */
  | { readonly type: "words"; readonly item: string; readonly text: string }
  /** All audio of an item has arrived. */
  | { readonly type: "item_end"; readonly item: string }
  /** The callee has begun to speak, and interrupts the agent. */
  | { readonly type: "speech_started" }
  /** The callee's turn has ended. */
  | { readonly type: "speech_stopped" }
  /** The callee said this. Times are ms of the callee's audio; undefined if they are not known. */
  | {
      readonly type: "callee_words";
      readonly text: string;
      readonly startMs: number | undefined;
      readonly endMs: number | undefined;
    }
  /** Waits for the callee: `silence` follows if both sides are silent for this time after the last word, ms. */
  | { readonly type: "listen"; readonly forMs: number }
  /** Sends keys to the other side: 0-9 * # A-D. */
  | { readonly type: "press"; readonly keys: string }
  /**
   * Connects the callee with another number (E.164), once all that was said has been heard, and ends the agent's part
   * of the call; if that fails, `transferFailed` follows.
   */
  | { readonly type: "transfer"; readonly to: string }
  /** A machine has answered: waits, in silence, until it records; `voicemail` follows. */
  | { readonly type: "leave_voicemail" }
  /** Speaks a text with the server's speech engine, after the queued audio; it cannot be interrupted. */
  | { readonly type: "say"; readonly text: string }
  /** Something went wrong that the conversation survives: for the log, without secrets. */
  | { readonly type: "fault"; readonly detail: string }
  /** Ends the call as `agent_failed` once all that was said has been heard. */
  | { readonly type: "fail"; readonly detail: string }
  /**
   * Ends the call once all that was said has been heard; nothing follows, unless a machine turns out to have answered.
   * `detail`: the reason, for an operator, if the call did not serve its purpose.
   */
  | { readonly type: "hang_up"; readonly detail?: string | undefined };
