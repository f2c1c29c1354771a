import type {
  StreamAttachment,
  StreamClient,
  StreamEnd,
  StreamEvent,
  StreamReservation,
} from "../../application/call-audio/streams/stream-client.ts";
import type { Logger } from "../../ports/logger.ts";
import type { Socket, SocketHandlers } from "../../ports/web.ts";
import { cutToBytes } from "./cut-to-bytes.ts";
import { CLOSE_CODES, type Dialect, type DialectOutput } from "./dialect.ts";
import { Inbox } from "./inbox.ts";
import { Outbox } from "./outbox.ts";

const REASONS: Readonly<Record<StreamEnd, string>> = {
  completed: "the call is over",
  failed: "the call failed",
  overflow: "more than 60 s of audio are waiting",
  stopping: "the server is stopping",
};
/** A close frame holds two bytes of code and the reason (RFC 6455 §5.5.1). */
const MOST_REASON_BYTES = 123;

/** What a WebSocket needs to carry the audio of a call. */
export interface StreamSocketOptions {
  readonly seat: StreamReservation;
  readonly dialect: (output: DialectOutput) => Dialect;
  /** Watches the client's token until the returned function is called; calls back if it is not good any more. */
  readonly watchToken: (revoked: () => void) => () => void;
  readonly log: Logger;
  /** What identifies the client in the log. */
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
      if (connection) connection.closed(code);
      else options.seat.release();
    },
  };
}

/** One client, from the moment its WebSocket is open until it is closed, by whom ever. */
class StreamConnection {
  readonly #socket: Socket;
  readonly #options: StreamSocketOptions;
  readonly #outbox: Outbox;
  readonly #inbox: Inbox;
  readonly #dialect: Dialect;
  readonly #unwatch: () => void;
  #attachment: StreamAttachment | undefined;
  /** Why reading has stopped. */
  readonly #pausedBy: Set<"queue" | "inbox"> = new Set();
  #ended = false;

  constructor(socket: Socket, options: StreamSocketOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#outbox = new Outbox(socket, {
      dropped: (ms) => this.#dialect.dropped?.(ms),
      full: () => {
        this.#outbox.close();
        this.#end(CLOSE_CODES.notReading, "more than 1 MiB of messages are waiting to be read");
      },
    });
    this.#dialect = options.dialect({
      text: (message) => this.#outbox.text(message),
      audio: (data) => this.#outbox.audio(data),
      close: (code, reason) => this.#end(code, reason),
    });
    this.#inbox = new Inbox({
      take: (message) => this.#dialect.receive(message),
      long: (isLong) => this.#read("inbox", !isLong),
      full: () => this.#end(CLOSE_CODES.overflow, REASONS.overflow),
      broken: (cause) => {
        options.log.error({ ...options.fields, err: cause }, "a message on a stream could not be taken");
        this.#end(CLOSE_CODES.broken, "internal error");
      },
    });
    this.#unwatch = options.watchToken(() => this.#end(CLOSE_CODES.revoked, "the token was revoked or has expired"));
    this.#attach();
  }

  receive(data: string | Uint8Array): void {
    if (!this.#ended) this.#inbox.push(data);
  }

  /** The WebSocket is closed. */
  closed(code: number): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#unwatch();
    this.#outbox.close();
    // What was sent before a goodbye is still to be heard.
    const pending = isGoodbye(code) ? this.#inbox.done : undefined;
    if (pending) void pending.then(() => this.#leave(code));
    else this.#leave(code);
  }

  #attach(): void {
    const dialect = this.#dialect;
    const attachment = this.#seated({
      calleeRate: dialect.calleeRate,
      event: (event) => {
        this.#mind(event);
        dialect.event(event);
      },
      transcript: (transcript) => dialect.transcript(transcript),
      callee: (frame) => dialect.callee(frame),
      over: (end) => {
        dialect.over(end);
        this.#end(CLOSE_CODES[end], REASONS[end]);
      },
    });
    if (attachment === undefined) return;
    this.#attachment = attachment;
    // It may have been let go while it was being told what had happened so far.
    if (this.#ended) attachment.detach(false);
    else dialect.attached(attachment);
  }

  /** A place is not kept for ever: one that was given up while the connection was being opened is to be asked for again. */
  #seated(client: StreamClient): StreamAttachment | undefined {
    try {
      return this.#options.seat.attach(client);
    } catch (error) {
      this.#options.log.warn(
        { ...this.#options.fields, err: error },
        "a connection was opened too late for its stream",
      );
      this.#end(CLOSE_CODES.stopping, "the connection was opened too late; connect again");
      return undefined;
    }
  }

  #mind({ event }: StreamEvent): void {
    if (event === "buffer_high") this.#read("queue", false);
    else if (event === "buffer_low") this.#read("queue", true);
  }

  /** Goes on reading, or stops it, as far as this cause is concerned. */
  #read(cause: "queue" | "inbox", goesOn: boolean): void {
    if (this.#ended) return;
    const wasPaused = this.#pausedBy.size > 0;
    if (goesOn) this.#pausedBy.delete(cause);
    else this.#pausedBy.add(cause);
    const isPaused = this.#pausedBy.size > 0;
    if (isPaused === wasPaused) return;
    if (isPaused) this.#socket.pause?.();
    else this.#socket.resume?.();
  }

  /** Closes the WebSocket; the place at the stream is free at once, however long the client takes to say goodbye. */
  #end(code: number, reason: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#unwatch();
    this.#outbox.finish();
    // The client's own goodbye is behind what was not read.
    if (this.#pausedBy.size > 0) this.#socket.resume?.();
    this.#socket.close(code, cutToBytes(reason, MOST_REASON_BYTES));
    this.#leave(code, false);
  }

  #leave(code: number, onPurpose: boolean = isGoodbye(code)): void {
    this.#inbox.close();
    this.#attachment?.detach(onPurpose);
    this.#dialect.gone();
    this.#options.log.info({ ...this.#options.fields, code }, "a stream client has gone");
  }
}

/** Normal closure, or a close without a code (RFC 6455 §7.4.1). */
const isGoodbye = (code: number): boolean => code === 1000 || code === 1005;
