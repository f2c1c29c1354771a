import type { Speaker } from "../domain/transcript.ts";

/**
 * Speech to text of a live call.
 *
 * One engine listens to one speaker of one call at a time: a session. Audio time, ms since the call was answered, is the
 * only clock in what goes in and what comes out. Keep-alives, reconnecting and replaying what a broken connection has
 * lost belong to the adapter; the core only pushes samples and, where the engine cannot, says when somebody has finished
 * speaking.
 */
export interface Transcription {
  /** For logs: `openai`, `deepgram`. */
  readonly name: string;
  readonly capabilities: TranscriptionCapabilities;
  /**
   * Begins to listen. Resolves as soon as samples can be pushed, which need not mean that the engine is connected.
   * @param signal ends the session at once
   * @throws {TranscriptionFailed} the engine will not listen; the message is for an operator
   */
  open(options: TranscriptionOptions, signal: AbortSignal): Promise<TranscriptionSession>;
  /** Ends every session at once. */
  close(): Promise<void>;
}

/** Differences between engines that the core must know. */
export interface TranscriptionCapabilities {
  /** Rates that it takes, Hz, the best one first. A call whose rate is among them is not resampled. */
  readonly sampleRates: readonly number[];
  /**
   * It says by itself when somebody has finished speaking, and therefore hears everything, silence included. Otherwise it
   * hears only the stretches in which there is speech, and the core commits after each.
   */
  readonly endOfTurn: boolean;
  /** It answers partial texts while somebody speaks. */
  readonly partial: boolean;
}

/** What a session is about. */
export interface TranscriptionOptions {
  readonly callId: string;
  readonly speaker: Speaker;
  /** One of the engine's, Hz. */
  readonly sampleRate: number;
}

/** One speaker who is listened to. */
export interface TranscriptionSession {
  /**
   * The next samples, 20 ms or so; the array is not kept. Never waits and never throws: a bounded queue drops its oldest,
   * counts, and reports that as an error.
   * @param atMs when the first of them was heard
   */
  push(samples: Int16Array, atMs: number): void;
  /** Somebody has finished speaking: what was said since the last commit is to be transcribed. Does not throw. */
  commit(): void;
  /** What was understood, in the order of speaking as far as the engine allows. To be iterated by one reader. */
  readonly events: AsyncIterable<TranscriptionEvent>;
  /**
   * Nothing more is pushed: what is still on its way is answered within a few seconds, then `events` ends and this
   * resolves. Idempotent; never rejects.
   */
  close(): Promise<void>;
}

/** What an engine says. Times are ms since the answer. */
export type TranscriptionEvent =
  /** What was understood so far of what is being said; replaces the one before. */
  | { readonly type: "partial"; readonly text: string; readonly startMs?: number | undefined }
  | {
      readonly type: "final";
      readonly text: string;
      readonly startMs?: number | undefined;
      readonly endMs?: number | undefined;
      /** 0 to 1. */
      readonly confidence?: number | undefined;
    }
  /** Something was not transcribed. Not `recoverable`: nothing more will be. The message is for an operator. */
  | { readonly type: "error"; readonly error: Error; readonly recoverable: boolean };

/** Thrown when an engine cannot listen; the message names the cause and the fix. */
export class TranscriptionFailed extends Error {
  override readonly name = "TranscriptionFailed";
}
