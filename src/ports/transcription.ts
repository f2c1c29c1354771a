/**
 * Speech to text of a live call.
 *
 * One engine listens to one speaker of one call at a time: a session. Audio time, ms since the session's first sample, is
 * the only clock in what it answers. Keep-alives, reconnecting and replaying what a broken connection has lost belong to
 * the adapter; the core only pushes samples and, where the engine cannot, says when somebody has finished speaking.
 */
export interface Transcription {
  /** For logs and events: `openai`, `deepgram`. */
  readonly name: string;
  readonly capabilities: TranscriptionCapabilities;
  /**
   * Begins to listen. Resolves as soon as samples can be pushed, which need not mean that the engine is connected.
   * @throws {TranscriptionFailed} the engine will not listen; the message is for an operator
   */
  open(options: TranscriptionOptions, signal: AbortSignal): Promise<TranscriptionSession>;
  close(): Promise<void>;
}

/** Differences between engines that the core must know. */
export interface TranscriptionCapabilities {
  /** Rates that it takes, Hz, the best one first. */
  readonly sampleRates: readonly number[];
  /** It says by itself when somebody has finished speaking; otherwise the core commits. */
  readonly endOfTurn: boolean;
  /** It answers partial texts while somebody speaks. */
  readonly partial: boolean;
}

export interface TranscriptionOptions {
  /** One of the engine's, Hz. */
  readonly sampleRate: number;
  /** BCP 47 tag; undefined: the engine finds out. */
  readonly language?: string | undefined;
}

/** One speaker who is listened to. */
export interface TranscriptionSession {
  /** The next samples, 20 ms or so; the array is not kept. Never waits: a bounded queue drops its oldest and counts. */
  push(samples: Int16Array): void;
  /** Somebody has finished speaking: what was said since the last commit is to be transcribed. */
  commit(): void;
  /** What was understood, in the order of speaking as far as the engine allows. To be iterated by one reader. */
  readonly events: AsyncIterable<TranscriptionEvent>;
  /** Nothing more is pushed: what is still on its way is answered within a few seconds, then `events` ends. Idempotent. */
  close(): Promise<void>;
}

/** What an engine says. Times are ms since the first sample of the session. */
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
