import { CodedError } from "../base/error.ts";
import type { Speaker } from "../domain/calls/transcript.ts";

/**
 * Speech to text of a live call.
 *
 * A session transcribes one speaker of one call. Audio time, ms since the call was answered, is the only clock for its
 * inputs and events. The adapter handles keep-alives and reconnections, and replays what a broken connection has lost;
 * the core only pushes samples and, if the engine cannot detect it, commits at the end of each turn.
 */
export interface Transcription {
  /** Name for logs: `openai`, `deepgram`. */
  readonly name: string;
  readonly capabilities: TranscriptionCapabilities;
  /**
   * Opens a session. Resolves as soon as samples can be pushed, which need not mean that the engine is connected.
   * @param signal ends the session at once
   * @throws {TranscriptionFailed} the session cannot be opened; the message is for an operator
   */
  open(options: TranscriptionOptions, signal: AbortSignal): Promise<TranscriptionSession>;
  /**
   * Checks that a session could be opened, without opening one; called before a call that needs one is dialled.
   * Default: no check.
   * @throws {TranscriptionFailed} the message names the cause and the fix
   */
  check?(): Promise<void>;
  /** Ends every session at once. */
  close(): Promise<void>;
}

/** Differences between engines that the core must know about. */
export interface TranscriptionCapabilities {
  /** Supported rates, Hz, the best one first. A call whose rate is among them is not resampled. */
  readonly sampleRates: readonly number[];
  /**
   * True if the engine detects the end of a turn itself, and therefore receives all audio, silence included. Otherwise
   * it receives only stretches with speech, and the core commits after each.
   */
  readonly endOfTurn: boolean;
  /** True if it emits partial texts during a turn. */
  readonly partial: boolean;
}

/** Options of a session. */
export interface TranscriptionOptions {
  readonly callId: string;
  readonly speaker: Speaker;
  /** Sample rate of the audio, Hz; one of the engine's rates. */
  readonly sampleRate: number;
}

/** The transcription of one speaker. */
export interface TranscriptionSession {
  /**
   * Adds the next samples, about 20 ms; the array is not kept. Never waits and never throws: a bounded queue drops its
   * oldest samples, counts them, and reports the loss as an error.
   * @param atMs audio time of the first sample
   */
  push(samples: Int16Array, atMs: number): void;
  /** Ends the turn: transcribes the audio since the last commit. Does not throw. */
  commit(): void;
  /** The transcripts, in spoken order as far as the engine allows. For one reader. */
  readonly events: AsyncIterable<TranscriptionEvent>;
  /**
   * Ends the audio: pending transcripts arrive within a few seconds, then `events` ends and the promise resolves.
   * Idempotent; never rejects.
   */
  close(): Promise<void>;
}

/** An event of a session. Times are ms since the answer. */
export type TranscriptionEvent =
  /** The text of the current turn so far; replaces the previous one. */
  | {
      readonly type: "partial";
      readonly text: string;
      readonly startMs?: number | undefined;
      /** The engine expects that the turn ends here; the callee may still continue. */
      readonly ended?: true | undefined;
    }
  | {
      readonly type: "final";
      readonly text: string;
      readonly startMs?: number | undefined;
      readonly endMs?: number | undefined;
      /** Confidence in the text, 0 to 1. */
      readonly confidence?: number | undefined;
    }
  /** A part was not transcribed. Not `recoverable`: the session has ended. The message is for an operator. */
  | { readonly type: "error"; readonly error: Error; readonly recoverable: boolean };

/** Thrown if a session cannot be opened; the message names the cause and the fix. */
export class TranscriptionFailed extends CodedError {
  override readonly name = "TranscriptionFailed";
  readonly code = "transcription_failed";
}
