import ReconnectingWebSocket, { CloseEvent } from "partysocket/ws";
import { callPath } from "../calls-client.ts";
import type { Transport } from "../http-transport.ts";
import { RingportError } from "../ringport-error.ts";
import type { StreamTicket } from "../views.ts";
import { CLOSED } from "./stream-messages.ts";

/** Opens a WebSocket, as the global `WebSocket` does. */
export type WebSocketConstructor = new (url: string) => object;

/** Options of a {@link StreamConnection}. */
interface ConnectionOptions {
  readonly transport: Transport;
  readonly callId: string;
  /** Query of the stream's URL, without the ticket. */
  readonly query: URLSearchParams;
  /** Time limit for opening or reopening a connection, ms. */
  readonly reconnectMs: number;
  /** Default: the global `WebSocket`. */
  readonly WebSocket: WebSocketConstructor | undefined;
}

/** Callbacks of a {@link StreamConnection}. */
export interface ConnectionListener {
  /** Called when a connection is open: the first connection, or another after an interruption. */
  onOpen(send: (data: string | Uint8Array<ArrayBuffer>) => void): void;
  onMessage(data: string | ArrayBuffer): void;
  /** Called when the connection was lost; another is being opened. */
  onLost(): void;
  /** Called when the server has ended the connection, because the call has ended. */
  onEnd(status: "completed" | "failed"): void;
  /** Called when the connection has failed permanently. */
  onFailure(error: RingportError): void;
}

/** Maximum time for one attempt to reconnect, ms. */
const ATTEMPT_MS = 4_000;
const BACK_OFF = { minReconnectionDelay: 100, reconnectionDelayGrowFactor: 1.5, maxReconnectionDelay: 1_000 };
/** Time until a connection is stable, ms; an earlier interruption counts as part of the previous one. */
const STABLE_MS = 1_000;

/**
 * A WebSocket to a call's stream that reconnects when the connection is lost. Browsers cannot send a token with it, so
 * every connection fetches a ticket, which is valid once. A WebSocket cannot read why a server refuses it, so the
 * reason is requested over HTTP.
 */
export class StreamConnection {
  readonly #options: ConnectionOptions;
  readonly #listener: ConnectionListener;
  readonly #socket: ReconnectingWebSocket;
  readonly #stop = new AbortController();
  /** Timer for the deadline of a connection attempt, or for the time until the connection is stable. */
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Beginning of the current interruption. */
  #brokenAt: number | undefined;
  #wasOpen = false;
  #isOpen = false;
  /** True while a WebSocket is being opened. */
  #isOpening = false;
  /** True if the last WebSocket was refused for an unknown reason. */
  #isUnexplained = false;
  #lastError: unknown;

  constructor(options: ConnectionOptions, listener: ConnectionListener) {
    this.#options = options;
    this.#listener = listener;
    const { WebSocket } = options;
    this.#socket = new ReconnectingWebSocket(() => this.#nextUrl(), null, {
      ...(WebSocket ? { WebSocket } : {}),
      ...BACK_OFF,
      minUptime: STABLE_MS,
      connectionTimeout: ATTEMPT_MS,
      shouldReconnectOnClose: (event) => !isPermanent(event),
    });
    this.#socket.binaryType = "arraybuffer";
    this.#socket.onopen = () => this.#onOpen();
    this.#socket.onmessage = ({ data }) => this.#isOpen && listener.onMessage(data as string | ArrayBuffer);
    this.#socket.onclose = (event) => this.#onClose(event);
    this.#startDeadline();
  }

  /** Closes the connection normally: the call ends once the sent audio has been heard. */
  close(): void {
    if (this.#stop.signal.aborted) return;
    this.#stop.abort();
    clearTimeout(this.#timer);
    this.#isOpen = false;
    this.#socket.close(1000);
  }

  #onOpen(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#brokenAt = undefined;
    }, STABLE_MS);
    this.#isOpening = false;
    this.#isOpen = true;
    this.#wasOpen = true;
    const socket = this.#socket;
    // Its own queue stays empty: the outbox sends unsent messages again over the next connection.
    this.#listener.onOpen((data) => void (socket.readyState === socket.OPEN && socket.send(data)));
  }

  #onClose(event: { readonly code: number; readonly reason: string }): void {
    if (this.#stop.signal.aborted) return;
    if (isPermanent(event)) this.#onFinalClose(event);
    else if (this.#isOpen) {
      this.#isOpen = false;
      this.#listener.onLost();
      this.#startDeadline();
    } else if (this.#isOpening) {
      this.#isOpening = false;
      this.#isUnexplained = true;
    }
  }

  /** The server has closed the stream permanently; the close code is the reason. */
  #onFinalClose({ code, reason }: { readonly code: number; readonly reason: string }): void {
    if (code === CLOSED.completed || code === CLOSED.failed) {
      this.close();
      this.#listener.onEnd(code === CLOSED.failed ? "failed" : "completed");
    } else if (code === CLOSED.revoked)
      this.#fail(new RingportError("unauthorized", reason || "the token was revoked"));
    else if (code === CLOSED.notAudio)
      this.#fail(new RingportError("audio_unsupported", reason || "the written bytes are not valid audio"));
    else this.#fail(new RingportError("stream_overflow", reason || "too much audio is queued"));
  }

  /** The URL of the next connection. */
  async #nextUrl(): Promise<string> {
    const { transport, callId, query } = this.#options;
    const { signal: stopSignal } = this.#stop;
    const signal = this.#wasOpen ? AbortSignal.any([stopSignal, AbortSignal.timeout(ATTEMPT_MS)]) : stopSignal;
    const path = callPath(callId);
    try {
      if (this.#isUnexplained) await this.#requestReason(`${path}/stream`, signal);
      const { body } = await transport.post<StreamTicket>(`${path}/stream-ticket`, {}, undefined, { signal });
      this.#isOpening = true;
      const address = `${transport.url.replace(/^http/i, "ws")}${path}/stream`;
      return `${address}?${query}&ticket=${encodeURIComponent(body.ticket)}`;
    } catch (error) {
      this.#onRefusal(error);
      throw new Error("no connection is possible", { cause: error });
    }
  }

  /** @throws {RingportError} the reason why the server refuses the WebSocket, if it does */
  async #requestReason(path: string, signal: AbortSignal): Promise<void> {
    this.#isUnexplained = false;
    try {
      await this.#options.transport.get(path, Object.fromEntries(this.#options.query), { signal });
    } catch (error) {
      if (!(error instanceof RingportError && error.code === "upgrade_required")) throw error;
      this.#lastError = new RingportError(
        "network_error",
        "the server is reachable, but no WebSocket to it can be opened",
      );
    }
  }

  #onRefusal(error: unknown): void {
    if (this.#stop.signal.aborted) return;
    this.#lastError = error;
    if (!(error instanceof RingportError)) return; // the attempt took too long
    // After an interruption the server may still consider the old connection attached.
    const isTemporary = error.status === 0 || error.status >= 500 || error.code === "stream_already_attached";
    if (!this.#wasOpen || !isTemporary) this.#fail(error);
  }

  /** Starts waiting for a stable connection. */
  #startDeadline(): void {
    this.#brokenAt ??= performance.now();
    const remainingMs = this.#brokenAt + this.#options.reconnectMs - performance.now();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#giveUp(), remainingMs);
  }

  #giveUp(): void {
    const { reconnectMs, callId } = this.#options;
    const cause = this.#lastError;
    if (this.#wasOpen) {
      const message = `the stream of ${callId} was interrupted and could not be restored within ${reconnectMs} ms`;
      this.#fail(new RingportError("stream_lost", message, { cause }));
    } else if (cause instanceof RingportError) this.#fail(cause);
    else this.#fail(new RingportError("timeout", `the stream of ${callId} did not open within ${reconnectMs} ms`));
  }

  #fail(error: RingportError): void {
    if (this.#stop.signal.aborted) return;
    this.close();
    this.#listener.onFailure(error);
  }
}

/** True if the server has closed the stream permanently. partysocket's own events mean that the connection was lost. */
function isPermanent(event: { readonly code: number }): boolean {
  return !(event instanceof CloseEvent) && (Object.values(CLOSED) as number[]).includes(event.code);
}
