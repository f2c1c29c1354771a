/**
 * Where recordings of calls are kept: WAV files of two channels, what the callee heard on the left and what the callee
 * said on the right. A recording that a crash cut off is readable up to a second before it.
 */
export interface Recordings {
  /**
   * Begins a recording, in place of an earlier one of this call. Returns at once; nothing of it may stop the call.
   * @param sampleRate Hz
   */
  record(callId: string, sampleRate: number): RecordingWriter;
  /** The recording of a call, also while it grows; undefined where there is none. */
  read(callId: string): Promise<StoredRecording | undefined>;
  /** Deletes the recordings of these calls, those that are there. */
  forget(callIds: readonly string[]): Promise<void>;
}

/** One recording that grows. Written to within the leg's clock: it does not wait, throw, or keep the arrays. */
export interface RecordingWriter {
  /** The next samples of both channels, of the same length. */
  write(heard: Int16Array, said: Int16Array): void;
  /** The call is over; resolves when the file is whole, and never rejects. Idempotent. */
  finish(): Promise<void>;
}

export interface StoredRecording {
  /** Of the whole file, bytes. */
  readonly size: number;
  /** The WAV file, in pieces. */
  readonly bytes: AsyncIterable<Uint8Array>;
}
