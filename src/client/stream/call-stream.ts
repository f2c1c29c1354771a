import type { StreamEncoding, StreamRate } from "../../audio/samples/stream-format.ts";
import type { CompletedReason, FailedReason } from "../../domain/calls/outcome.ts";
import type { RequestOptions } from "../http-transport.ts";
import type { WebSocketConstructor } from "./stream-connection.ts";
import type { StreamEvent } from "./stream-messages.ts";
import type { MarkEnd } from "./stream-replies.ts";

/** Options of a stream. */
export interface StreamOptions extends RequestOptions {
  /** Encoding of the written audio. Default: `pcm_s16le`, 16-bit little-endian samples. */
  readonly encoding?: StreamEncoding | undefined;
  /** Sample rate of the written audio, and of the callee's, Hz. Default: 16,000; for mu-law and A-law 8,000. */
  readonly sampleRate?: StreamRate | undefined;
  /** `callee` makes the callee's audio available as {@link CallStream.audio}. Default: no audio is received. */
  readonly audio?: "callee" | undefined;
  /**
   * Maximum time for reconnecting after the connection is lost, ms. Default: 10,000, the time that the server waits.
   */
  readonly reconnectMs?: number | undefined;
  /** Opens the connection. Default: the global `WebSocket`. */
  readonly WebSocket?: WebSocketConstructor | undefined;
}

/** End of a stream. */
export interface StreamEnd {
  /** `closed`: `close()` ended the stream; read the call for its outcome. */
  readonly status: "completed" | "failed" | "closed";
  readonly reason: CompletedReason | FailedReason | null;
}

/**
 * The live audio of one call. A broken connection is restored automatically, and written audio is neither lost nor
 * heard twice. Promises and iterators reject with a `RingportError` if the stream fails permanently.
 */
export interface CallStream {
  readonly callId: string;
  /** Resolves when the call has ended, or the stream is closed; rejects if the stream fails permanently. */
  readonly ended: Promise<StreamEnd>;
  /** Number of dropped frames and events. At most 60 s of audio and 10,000 events are kept for a reader. */
  readonly dropped: { readonly frames: number; readonly events: number };
  /** The events of the call, from the beginning. Use one loop at a time; the next continues where it stopped. */
  events(): AsyncGenerator<StreamEvent, void, undefined>;
  /** The callee's audio in frames of 20 ms, from pickup on. Requires the option `audio`. Use one loop at a time. */
  audio(): AsyncGenerator<Int16Array<ArrayBuffer>, void, undefined>;
  /**
   * Queues audio for the callee: samples, or bytes of the encoding, split at any point. Resolves when more may be
   * written; the array must stay unchanged until then. Resolves with false once the call has ended, because the audio
   * will not be heard. Rejects with `stream_overflow` if more than 60 s of audio is queued because the program does not
   * await this promise.
   */
  write(audio: Int16Array | Uint8Array): Promise<boolean>;
  /**
   * Resolves when all audio written so far has been heard, or never will be.
   * @throws {RangeError} the name must have 1 to 256 characters
   */
  mark(name: string): Promise<MarkEnd>;
  /** Drops all queued audio; resolves with the total length of the audio that was heard, ms. */
  clear(): Promise<number>;
  /**
   * Presses keys after all audio written so far.
   * @throws {RangeError} `digits` must be 1 to 64 of the keys 0-9 * # A-D
   */
  dtmf(digits: string): Promise<void>;
  /**
   * Ends the call once all audio written so far has been heard, or at once before pickup; resolves when the call has
   * ended.
   */
  hangUp(): Promise<StreamEnd>;
  /**
   * Disconnects once the server has received all audio written so far; the server ends the call when it has been heard.
   */
  close(): Promise<void>;
}
