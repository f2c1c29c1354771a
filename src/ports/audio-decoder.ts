import { CodedError } from "../base/error.ts";
import type { FileBytes, IgnoredBytes } from "../domain/calls/file-bytes.ts";
import type { PcmChunk } from "./media.ts";

/** Properties of an uploaded file. */
export interface AudioFacts {
  readonly format: "wav" | "mp3";
  readonly durationMs: number;
  /** Sample rate of the file, Hz. */
  readonly sampleRate: number;
  readonly channels: number;
  /** True if the file is truncated: its header states more audio than it contains. */
  readonly truncated: boolean;
  /** Number of the file's bytes by use; undefined if the decoder does not count them. */
  readonly bytes?: FileBytes | undefined;
}

export type { FileBytes, IgnoredBytes, IgnoredReason } from "../domain/calls/file-bytes.ts";

/** Thrown for bytes that cannot be played; the message is for the sender. */
export class AudioUnsupported extends CodedError {
  override readonly name = "AudioUnsupported";
  readonly code = "audio_unsupported";
}

/** Decodes one MP3 as it arrives. */
export interface Mp3Stream {
  /**
   * Adds the next bytes, split at any point, and returns the samples that they complete: mono, at the stream's rate,
   * which may change midway. Pass at most 4 KiB at a time, because this thread decodes them synchronously.
   * @throws {AudioUnsupported} too many bytes are not MP3
   */
  push(bytes: Uint8Array): readonly PcmChunk[];
  /** Ends the MP3 and returns the last samples. Omitted if no samples are held back. */
  finish?(): readonly PcmChunk[];
  /** Number of bytes ignored so far, by reason; missing if unknown. */
  readonly ignored?: readonly IgnoredBytes[];
  close(): void;
}

/** Decodes whole audio files off the thread that carries audio, with limited CPU time. */
export interface AudioDecoder {
  /**
   * Decodes the whole file once and discards the samples.
   * @throws {AudioUnsupported} the file is of an unknown format, undecodable, empty, silent, longer than
   *   `maxDurationMs`, or too costly to decode
   */
  inspect(file: Uint8Array, limits: { maxDurationMs: number }, signal?: AbortSignal): Promise<AudioFacts>;
  /**
   * The file as 16-bit mono samples at `sampleRate`, with its level unchanged.
   * @throws {AudioUnsupported}
   */
  decode(file: Uint8Array, sampleRate: number, signal?: AbortSignal): Promise<Int16Array>;
  /** Decodes an MP3 while it is being sent. Without it, streams carry PCM, mu-law and A-law only. */
  mp3Stream?(): Promise<Mp3Stream>;
  close(): Promise<void>;
}
