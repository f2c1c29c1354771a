import type {
  StreamAttachment,
  StreamClient,
  StreamEnd,
  StreamReservation,
} from "../../application/call-audio/streams/stream-client.ts";
import type { Logger } from "../../ports/logger.ts";
import type { Socket, SocketHandlers } from "../../ports/web.ts";
import { CLOSE_CODES, type Dialect, type DialectOutput } from "./dialect.ts";
import { StreamInbox } from "./inbox.ts";
import { StreamOutbox } from "./outbox.ts";

const REASONS: Readonly<Record<StreamEnd, string>> = {
  completed: "the call has ended",
  failed: "the call failed",
  overflow: "more than 60 s of audio are queued",
  stopping: "the server is stopping",
};
/** Maximum size of the reason in a close frame, after its two bytes of code (RFC 6455 §5.5.1). */
const MAX_REASON_BYTES = 123;

/** Options of {@link streamSocket}. */
export interface StreamSocketOptions {
  readonly reservation: StreamReservation;
  readonly dialect: (output: DialectOutput) => Dialect;
  /**
   * Watches the client's token until the returned function is called; calls `onRevoked` once the token is no longer
   * valid.
   */
  readonly watchToken: (onRevoked: () => void) => () => void;
  readonly log: Logger;
  /** Log fields that identify the client. */
  readonly fields: { readonly request_id: string; readonly call_id: string };
}

/** The handlers of a WebSocket that carries the audio of a call. */
export function streamSocket(options: StreamSocketOptions): SocketHandlers {
  let connection: StreamConnection | undefined;
  return {
    open(socket) {
      connection = new StreamConnection(socket, options);
    },
    message: (_, data) => connection?.receive(data),
    close(_, code) {
      if (connection) connection.onClosed(code);
      else options.reservation.release();
    },
  };
}

/** One client, from the opening of its WebSocket until either side closes it. */
class StreamConnection {
  readonly #socket: Socket;
  readonly #options: StreamSocketOptions;
  readonly #outbox: StreamOutbox;
  readonly #inbox: StreamInbox;
  readonly #dialect: Dialect;
  readonly #unwatch: () => void;
  #attachment: StreamAttachment | undefined;
  #isPaused = false;
  #isEnded = false;

  constructor(socket: Socket, options: StreamSocketOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#outbox = new StreamOutbox(socket, {
      droppedMessage: (ms) => this.#dialect.droppedMessage?.(ms),
      onFull: () => {
        this.#outbox.close();
        this.#end(CLOSE_CODES.notReading, "more than 1 MiB of messages are queued for the client");
      },
    });
    this.#dialect = options.dialect({
      text: (message) => this.#outbox.text(message),
      audio: (data) => this.#outbox.audio(data),
      close: (code, reason) => this.#end(code, reason),
    });
    this.#inbox = new StreamInbox({
      take: (message) => this.#dialect.receive(message),
      dropsAudio: (message) => this.#dialect.dropsAudio(message),
      skip: (message) => this.#dialect.skip(message),
      onLong: (isLong) => this.#setPaused(isLong),
      onFull: () => this.#end(CLOSE_CODES.overflow, REASONS.overflow),
      onBroken: (cause) => {
        options.log.error({ ...options.fields, err: cause }, "a stream message could not be processed");
        this.#end(CLOSE_CODES.broken, "internal error");
      },
    });
    this.#unwatch = options.watchToken(() => this.#end(CLOSE_CODES.revoked, "the token was revoked or has expired"));
    this.#attach();
  }

  receive(data: string | Uint8Array): void {
    if (!this.#isEnded) this.#inbox.push(data);
  }

  /** Handles the closed WebSocket. */
  onClosed(code: number): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#unwatch();
    this.#outbox.close();
    // Messages that precede a normal closure, or a request to hang up, are still handled.
    const isEnding = isNormalClosure(code) || this.#inbox.some((message) => this.#dialect.endsCall(message));
    const pending = isEnding ? this.#inbox.idle : undefined;
    if (pending) void pending.then(() => this.#leave(code));
    else this.#leave(code);
  }

  #attach(): void {
    const dialect = this.#dialect;
    const attachment = this.#attachReserved({
      calleeRate: dialect.calleeRate,
      event: (event) => dialect.event(event),
      transcript: (transcript) => dialect.transcript(transcript),
      callee: (frame) => dialect.callee(frame),
      over: (end) => {
        dialect.over(end);
        this.#end(CLOSE_CODES[end], REASONS[end]);
      },
    });
    if (attachment === undefined) return;
    this.#attachment = attachment;
    // The connection may have ended during the replay of earlier events.
    if (this.#isEnded) attachment.detach(false);
    else dialect.onAttached(attachment);
  }

  /**
   * Attaches the client. If the reservation has expired while the connection was opening, the client must connect
   * again.
   */
  #attachReserved(client: StreamClient): StreamAttachment | undefined {
    try {
      return this.#options.reservation.attach(client);
    } catch (error) {
      this.#options.log.warn(
        { ...this.#options.fields, err: error },
        "a stream connection was opened after its reservation had expired",
      );
      this.#end(CLOSE_CODES.stopping, "the connection was opened too late; connect again");
      return undefined;
    }
  }

  #setPaused(isPaused: boolean): void {
    if (this.#isEnded) return;
    this.#isPaused = isPaused;
    if (isPaused) this.#socket.pause?.();
    else this.#socket.resume?.();
  }

  /** Closes the WebSocket. The stream is free for another client at once, without waiting for the closing handshake. */
  #end(code: number, reason: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#unwatch();
    this.#outbox.finish();
    // The client's close frame arrives after the unread messages.
    if (this.#isPaused) this.#socket.resume?.();
    this.#socket.close(code, cutToBytes(reason, MAX_REASON_BYTES));
    this.#leave(code, false);
  }

  #leave(code: number, isHangup: boolean = isNormalClosure(code)): void {
    this.#inbox.close();
    if (isHangup) this.#dialect.end();
    this.#attachment?.detach(isHangup);
    this.#dialect.onClosed();
    this.#options.log.info({ ...this.#options.fields, code }, "a stream client has disconnected");
  }
}

/** Normal closure, or a close without a code (RFC 6455 §7.4.1). */
const isNormalClosure = (code: number): boolean => code === 1000 || code === 1005;

/** The longest beginning of a text that fits into this number of UTF-8 bytes; it never ends within a character. */
export function cutToBytes(text: string, bytes: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes));
  return text.slice(0, read);
}
