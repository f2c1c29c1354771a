/**
 * Where recordings of calls are kept: WAV files of 16 bits and two channels, what the callee heard on the left and what
 * the callee said on the right. A recording that a crash cut off can be read up to two seconds before it.
 */
export interface Recordings {
  /**
   * Begins a recording, in place of an earlier one of this call. Called within the leg's clock: it returns at once, does
   * not throw, and nothing that becomes of the recording may stop the call.
   * @param sampleRate Hz
   * @param incomplete told at most once: nothing more is recorded, though the call goes on; why, and the error behind it
   */
  record(
    callId: string,
    sampleRate: number,
    incomplete: (reason: IncompleteReason, fault?: unknown) => void,
  ): RecordingWriter;
  /** The recording of a call as it is now, also while it grows; undefined where there is none. */
  read(callId: string): Promise<StoredRecording | undefined>;
  /** Deletes the recordings of these calls, those that are there, also while they grow. */
  forget(callIds: readonly string[]): Promise<void>;
  /** Completes what is being recorded. Twice is fine. */
  close(): Promise<void>;
}

/** Why a recording ends before its call does. */
export type IncompleteReason = "disk_full" | "disk_failed" | "disk_slow" | "too_long";

/** One recording that grows. */
export interface RecordingWriter {
  /** What is recorded so far and was not lost, ms. */
  readonly recordedMs: number;
  /**
   * The next samples of both channels, from the start of the arrays. Called within the leg's clock: it does not wait,
   * throw, or keep the arrays.
   */
  write(heard: Int16Array, said: Int16Array, samples: number): void;
  /** The call is over; resolves when the recording is whole, and never rejects. Idempotent. */
  finish(): Promise<void>;
}

/** A recording that can be read. */
export interface StoredRecording {
  /** Of the whole WAV file, bytes. */
  readonly size: number;
  readonly durationMs: number;
  /** The WAV file in pieces, or the bytes of it from `from` up to, not including, `to`. */
  bytes(from?: number, to?: number): AsyncIterable<Uint8Array>;
}
