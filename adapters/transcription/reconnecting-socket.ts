import { EngineSocket } from "../provider-http/engine-socket.ts";

/** Events of a connection that reconnects after it breaks. */
export interface ReconnectListener {
  /** Called when a connection has opened, the first or a later one. */
  opened(): void;
  message(text: string): void;
  /**
   * Called when the connection, or an attempt, has failed. Unless the listener closes the socket, another attempt
   * follows.
   */
  lost(): void;
  /**
   * Called when several attempts in a row have failed; attempts continue.
   * @param problem completes "the transcription server …"
   */
  unreachable(problem: string): void;
  /**
   * Called when the engine refuses the connection; no attempt follows.
   * @param problem completes "the transcription server …"
   */
  refused(problem: string): void;
}

/** Timeouts of {@link ReconnectingSocket}, ms. */
export interface ReconnectTimeouts {
  readonly connectMs: number;
  /** The pause after the first failed attempt, doubled after each further one. */
  readonly retryMs: number;
  /** Duration after which a connection counts as stable and the pause is reset, ms. */
  readonly stableMs: number;
}

const MAX_RETRY_MS = 5_000;
const ATTEMPTS_BEFORE_REPORT = 2;

/** A WebSocket to an engine that reconnects with growing pauses. Messages are sent only while it is connected. */
export class ReconnectingSocket {
  readonly #url: URL;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #timeouts: ReconnectTimeouts;
  readonly #listener: ReconnectListener;
  #socket: EngineSocket | undefined;
  #openedAt: number | undefined;
  #attemptCount = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(
    { url, headers }: { readonly url: URL; readonly headers: Readonly<Record<string, string>> },
    timeouts: ReconnectTimeouts,
    listener: ReconnectListener,
  ) {
    this.#url = url;
    this.#headers = headers;
    this.#timeouts = timeouts;
    this.#listener = listener;
    this.#connect();
  }

  get isOpen(): boolean {
    return this.#openedAt !== undefined;
  }

  send(message: string | Uint8Array): void {
    this.#socket?.send(message);
  }

  /** Drops the connection and reconnects. */
  drop(problem: string): void {
    this.#socket?.drop(problem);
  }

  /** Resets the pause to its minimum, because the engine is working. */
  resetPause(): void {
    this.#attemptCount = 0;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.#socket?.close();
  }

  #connect(): void {
    this.#attemptCount++;
    this.#socket = new EngineSocket(
      this.#url,
      { headers: this.#headers, connectMs: this.#timeouts.connectMs, settings: "RINGPORT_TRANSCRIPTION" },
      {
        opened: () => {
          this.#openedAt = performance.now();
          this.#listener.opened();
        },
        message: (text) => this.#listener.message(text),
        lost: (problem, isPermanent) => this.#handleLoss(problem, isPermanent),
      },
    );
  }

  #handleLoss(problem: string, isPermanent: boolean): void {
    if (this.#isClosed) return;
    if (this.#openedAt !== undefined && performance.now() - this.#openedAt > this.#timeouts.stableMs) this.resetPause();
    this.#openedAt = undefined;
    this.#socket = undefined;
    if (isPermanent) {
      this.#listener.refused(problem);
      return;
    }
    this.#listener.lost();
    if (this.#isClosed) return;
    if (this.#attemptCount === ATTEMPTS_BEFORE_REPORT) this.#listener.unreachable(problem);
    const doublings = Math.min(10, Math.max(0, this.#attemptCount - 1));
    this.#retry = setTimeout(() => this.#connect(), Math.min(MAX_RETRY_MS, this.#timeouts.retryMs * 2 ** doublings));
  }
}
