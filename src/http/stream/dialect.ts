import type { StreamAttachment, StreamClient } from "../../application/call-audio/streams/stream-client.ts";

/** The output of a dialect; messages leave in the order of the calls. */
export interface DialectOutput {
  /** Sends a message that is never dropped. */
  text(message: object): void;
  /** Sends the next 20 ms of audio. If the client reads too slowly, the oldest audio is dropped and counted. */
  audio(data: Uint8Array | string): void;
  /** Ends the connection because of a client fault, with one of {@link CLOSE_CODES}; a long reason is cut. */
  close(code: number, reason: string): void;
}

/**
 * The protocol on a call's WebSocket: Ringport's native messages, or those of Twilio Media Streams. A dialect turns
 * reports of the core into messages, and messages from the client into calls of the core. Each connection has its own.
 */
export interface Dialect extends StreamClient {
  /** Called first, when the client is attached. */
  onAttached(attachment: StreamAttachment): void;
  /**
   * Handles a message from the client. The next message follows once the promise has settled. A fault of the client
   * results in an `error` message or a close code; only a bug makes this throw.
   */
  receive(data: string | Uint8Array): void | Promise<void>;
  /** True for a message that drops all audio before it; then {@link skip} handles the messages that still wait. */
  dropsAudio(data: string | Uint8Array): boolean;
  /** Handles a message whose audio and marks are dropped by a later message. */
  skip(data: string | Uint8Array): void;
  /**
   * True for a message that requests the end of the call: such a message is obeyed even if the connection is lost while
   * it waits.
   */
  endsCall(data: string | Uint8Array): boolean;
  /** The message about this many ms of audio that were not sent to the client, in a dialect that has such a message. */
  droppedMessage?(ms: number): object;
  /** Called when the client has ended its audio, before it is detached. */
  end(): void;
  /** Handles the closed connection; nothing more is sent. */
  onClosed(): void;
}

/** Close codes of the stream. */
export const CLOSE_CODES = {
  /** The call completed. */
  completed: 1000,
  /** The server is stopping. */
  stopping: 1001,
  /** The bytes are not valid audio. */
  notAudio: 1003,
  /** The server has failed because of a bug. */
  broken: 1011,
  /** The token was revoked or has expired. */
  revoked: 4001,
  /** More than 60 s of audio was queued, and too much more was waiting. */
  overflow: 4008,
  /** The client does not read: more than 1 MiB of messages were queued for it. */
  notReading: 4009,
  /** The call failed. */
  failed: 4010,
} as const;
