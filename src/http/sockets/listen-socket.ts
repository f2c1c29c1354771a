import type { CallListening, ListenItem } from "../../application/call-audio/listeners/listen-items.ts";
import { pcmToBytes } from "../../audio/samples/pcm.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { Logger } from "../../ports/logger.ts";
import type { System } from "../../ports/system.ts";
import type { Socket, SocketHandlers } from "../../ports/web.ts";
import type { ListenEnded, ListenGap, ListenStarted, ListenWaiting, StreamError } from "../response-types.ts";

/** The close codes of a stream that a listener can get; the table of all codes is loaded with the streams. */
const CLOSE_CODES = { completed: 1000, stopping: 1001, broken: 1011, revoked: 4001, notReading: 4009 };
/** Size of the socket's buffer above which audio stays with the listener, which drops audio that is too old. */
const MAX_IN_SOCKET_BYTES: number = 64 << 10;
/** Maximum time without a read before a client is disconnected, ms. */
export const LISTENER_STALL_MS = 30_000;

/** Options of {@link listenSocket}. */
export interface ListenSocketOptions {
  readonly listening: CallListening;
  /**
   * Watches the client's token until the returned function is called; calls `onRevoked` once the token is no longer
   * valid.
   */
  readonly watchToken: (onRevoked: () => void) => () => void;
  readonly system: Pick<System, "after">;
  readonly log: Logger;
  /** Log fields that identify the client. */
  readonly fields: { readonly request_id: string; readonly call_id: string };
}

/** The handlers of a WebSocket through which a client listens to a live call. */
export function listenSocket(options: ListenSocketOptions): SocketHandlers {
  const { listening } = options;
  let connection: ListenConnection | undefined;
  return {
    open(socket) {
      connection = new ListenConnection(socket, options);
      void connection.run();
    },
    message: () => connection?.refuseMessage(),
    close() {
      if (connection) connection.onClosed();
      else listening.close();
    },
  };
}

/** One client, from the opening of its WebSocket until either side closes it. */
class ListenConnection {
  readonly #socket: Socket;
  readonly #options: ListenSocketOptions;
  readonly #unwatch: () => void;
  #hasRefused = false;
  #isClosed = false;

  constructor(socket: Socket, options: ListenSocketOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#unwatch = options.watchToken(() => this.#close(CLOSE_CODES.revoked, "the token was revoked or has expired"));
  }

  /** Sends all items, as fast as the client reads. Never rejects. */
  async run(): Promise<void> {
    const { listening, log, fields } = this.#options;
    try {
      for await (const item of listening) {
        if (this.#isClosed) return;
        this.#socket.send(item.type === "audio" ? pcmToBytes(item.samples) : JSON.stringify(messageOf(item)));
        if (this.#socket.bufferedAmount > MAX_IN_SOCKET_BYTES) await this.#waitUntilDrained();
      }
      this.#close(CLOSE_CODES.completed, "the call has ended");
    } catch (error) {
      if (error instanceof Refusal) this.#close(CLOSE_CODES.stopping, error.message);
      else {
        log.error({ ...fields, err: error }, "a listener could not be served");
        this.#close(CLOSE_CODES.broken, "internal error");
      }
    }
  }

  /** Replies to the first message of a client, and ignores the others. */
  refuseMessage(): void {
    if (this.#isClosed || this.#hasRefused) return;
    this.#hasRefused = true;
    const detail = "a listener cannot send messages; to speak to the callee, use GET /v1/calls/:callId/stream";
    this.#socket.send(JSON.stringify({ type: "error", code: "unknown_message", detail } satisfies StreamError));
  }

  /** Handles the closed WebSocket. */
  onClosed(): void {
    this.#isClosed = true;
    this.#unwatch();
    this.#options.listening.close();
  }

  #close(code: number, reason: string): void {
    if (this.#isClosed) return;
    this.onClosed();
    this.#socket.close(code, reason);
    this.#options.log.info({ ...this.#options.fields, code }, "a listener has been disconnected");
  }

  async #waitUntilDrained(): Promise<void> {
    const disconnect = (): void =>
      this.#close(CLOSE_CODES.notReading, `nothing was read for ${LISTENER_STALL_MS / 1_000} s`);
    const cancel = this.#options.system.after(LISTENER_STALL_MS, disconnect);
    await this.#socket.drained();
    cancel();
  }
}

function messageOf(
  item: Exclude<ListenItem, { type: "audio" }>,
): ListenWaiting | ListenStarted | ListenGap | ListenEnded {
  switch (item.type) {
    case "waiting":
      return { type: "waiting", status: item.status };
    case "started":
      return {
        type: "started",
        sample_rate: item.sampleRate,
        encoding: "pcm_s16le",
        channels: ["callee", "played"],
      };
    case "gap":
      return { type: "gap", lost_ms: item.lostMs };
    case "call_ended":
      return { type: "call_ended", status: item.status, reason: item.reason };
  }
}
