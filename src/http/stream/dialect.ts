import type { StreamAttachment, StreamClient } from "../../application/call-audio/streams/stream-client.ts";

/** How a dialect answers: in the order in which it is told to. */
export interface DialectOutput {
  /** A message that is never lost. */
  text(message: object): void;
  /** The next 20 ms of audio. Where the client reads too slowly, the oldest is dropped and counted. */
  audio(data: Uint8Array | string): void;
  /** Ends the connection for a fault of the client, with a close code of {@link CLOSE_CODES}; a long reason is cut. */
  close(code: number, reason: string): void;
}

/**
 * What is spoken on the WebSocket of a call: our own messages, or those of Twilio Media Streams. It turns what the core
 * reports into messages, and messages of the client into what it asks the core for. One dialect per connection.
 */
export interface Dialect extends StreamClient {
  /** The client is attached; comes before everything else. */
  attached(attachment: StreamAttachment): void;
  /**
   * A message of the client. While the promise is pending nothing else is given to it.
   * What is wrong with it is told by an `error` message or a close code; it throws only for a mistake of ours.
   */
  receive(data: string | Uint8Array): void | Promise<void>;
  /** The message that tells of audio that the client did not get, ms, for a dialect that has one. */
  dropped?(ms: number): object;
  /** The connection is gone; nothing is sent any more. */
  gone(): void;
}

/** Close codes of the stream. */
export const CLOSE_CODES = {
  /** The call is over, and completed. */
  completed: 1000,
  /** The server stops. */
  stopping: 1001,
  /** The bytes are not the audio that they should be. */
  notAudio: 1003,
  /** We have made a mistake. */
  broken: 1011,
  /** The token was revoked or has expired. */
  revoked: 4001,
  /** More than 60 s of audio were waiting. */
  overflow: 4008,
  /** The client does not read: more than 1 MiB of messages were waiting for it. */
  notReading: 4009,
  /** The call has failed. */
  failed: 4010,
} as const;
