import type { IncompleteReason } from "../domain/events.ts";

/**
 * Keeps recordings of calls: 16-bit stereo WAV files, with the audio played to the callee on the left and the callee's
 * own audio on the right. After a crash, a recording is readable except for its last two seconds.
 */
export interface Recordings {
  /**
   * Starts a recording, replacing any earlier recording of this call. Called on the leg's clock: it returns immediately
   * and does not throw. A failure of the recording never stops the call.
   * @param sampleRate Hz
   * @param incomplete called at most once, with the reason and its error, if the recording ends before the call
   */
  record(
    callId: string,
    sampleRate: number,
    incomplete: (reason: IncompleteReason, fault?: unknown) => void,
  ): RecordingWriter;
  /** The current recording of a call, even while it is being written; undefined if there is none. */
  read(callId: string): Promise<StoredRecording | undefined>;
  /** Deletes the recordings of these calls, even while they are being written. Unknown ids are ignored. */
  forget(callIds: readonly string[]): Promise<void>;
  /** Completes the recordings that are still being written. Idempotent. */
  close(): Promise<void>;
}

/** A recording in progress. */
export interface RecordingWriter {
  /** Length of the recording so far, without lost audio, ms. */
  readonly recordedMs: number;
  /**
   * Adds the next samples of both channels, from the start of the arrays. Called on the leg's clock: it does not wait,
   * throw, or keep the arrays.
   */
  write(played: Int16Array, received: Int16Array, samples: number): void;
  /** Completes the recording after the call has ended; resolves when that is done. Idempotent; never rejects. */
  finish(): Promise<void>;
}

/** A recording that can be read. */
export interface StoredRecording {
  /** Size of the WAV file, bytes. */
  readonly size: number;
  readonly durationMs: number;
  /** The WAV file in pieces, or its bytes from `from` up to but not including `to`. */
  bytes(from?: number, to?: number): AsyncIterable<Uint8Array>;
}
