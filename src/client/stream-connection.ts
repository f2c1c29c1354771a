import ReconnectingWebSocket, { CloseEvent } from "partysocket/ws";
import { callPath } from "./calls-client.ts";
import { RingportError } from "./ringport-error.ts";
import { CLOSED } from "./stream-messages.ts";
import type { Transport } from "./transport.ts";
import type { StreamTicket } from "./views.ts";

/** Opens a WebSocket, as the global `WebSocket` does. */
export type WebSocketConstructor = new (url: string) => object;

/** How a connection is made. */
export interface ConnectionOptions {
  readonly transport: Transport;
  readonly callId: string;
  /** What the stream's address asks for, without a ticket. */
  readonly query: URLSearchParams;
  /** How long a connection that broke, or never came to be, is tried for, ms. */
  readonly reconnectMs: number;
  /** Undefined: the global one. */
  readonly WebSocket: WebSocketConstructor | undefined;
}

/** Who is told what becomes of a connection. */
export interface ConnectionListener {
  /** There is one: the first, or another one after `lost`. */
  opened(send: (data: string | Uint8Array<ArrayBuffer>) => void): void;
  received(data: string | ArrayBuffer): void;
  /** It broke; another one is being made. */
  lost(): void;
  /** The server has ended it, and the call with it. */
  over(status: "completed" | "failed"): void;
  /** There is none, and none can be made. */
  failed(error: RingportError): void;
}

/** How long one attempt to come back may take, ms. */
const ATTEMPT_MS = 4_000;
const BACK_OFF = { minReconnectionDelay: 100, reconnectionDelayGrowFactor: 1.5, maxReconnectionDelay: 1_000 };
/** A connection that lasts as long is one; before that it is an attempt, and does not begin the time of the next break. */
const GOOD_MS = 1_000;

/**
 * A WebSocket to the stream of a call that comes back when it breaks. Browsers cannot send a token with it, so every
 * connection fetches a ticket, which works once. What a server refuses, a WebSocket cannot read: it is asked over HTTP.
 */
export class StreamConnection {
  readonly #options: ConnectionOptions;
  readonly #listener: ConnectionListener;
  readonly #socket: ReconnectingWebSocket;
  readonly #stop = new AbortController();
  /** Ends the waiting for a connection; while there is one, says that it lasts. */
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** When the waiting began. */
  #brokenAt: number | undefined;
  #wasOpen = false;
  #isOpen = false;
  /** A WebSocket is being opened. */
  #isOpening = false;
  /** The last one was refused, and nobody knows why. */
  #isUnexplained = false;
  #lastError: unknown;

  constructor(options: ConnectionOptions, listener: ConnectionListener) {
    this.#options = options;
    this.#listener = listener;
    const { WebSocket } = options;
    this.#socket = new ReconnectingWebSocket(() => this.#address(), null, {
      ...(WebSocket ? { WebSocket } : {}),
      ...BACK_OFF,
      minUptime: GOOD_MS,
      connectionTimeout: ATTEMPT_MS,
      shouldReconnectOnClose: (event) => !isForGood(event),
    });
    this.#socket.binaryType = "arraybuffer";
    this.#socket.onopen = () => this.#opened();
    this.#socket.onmessage = ({ data }) => this.#isOpen && listener.received(data as string | ArrayBuffer);
    this.#socket.onclose = (event) => this.#closed(event);
    this.#wait();
  }

  /** Ends it on purpose: the call ends when what was sent is heard. */
  close(): void {
    if (this.#stop.signal.aborted) return;
    this.#stop.abort();
    clearTimeout(this.#timer);
    this.#isOpen = false;
    this.#socket.close(1000);
  }

  #opened(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#brokenAt = undefined;
    }, GOOD_MS);
    this.#isOpening = false;
    this.#isOpen = true;
    this.#wasOpen = true;
    const socket = this.#socket;
    // Its own queue stays empty: what cannot be sent now is sent again when the next connection is open.
    this.#listener.opened((data) => void (socket.readyState === socket.OPEN && socket.send(data)));
  }

  #closed(event: { readonly code: number; readonly reason: string }): void {
    if (this.#stop.signal.aborted) return;
    if (isForGood(event)) this.#ended(event);
    else if (this.#isOpen) {
      this.#isOpen = false;
      this.#listener.lost();
      this.#wait();
    } else if (this.#isOpening) {
      this.#isOpening = false;
      this.#isUnexplained = true;
    }
  }

  /** The server does not want to see us again, and has said why. */
  #ended({ code, reason }: { readonly code: number; readonly reason: string }): void {
    if (code === CLOSED.completed || code === CLOSED.failed) {
      this.close();
      this.#listener.over(code === CLOSED.failed ? "failed" : "completed");
    } else if (code === CLOSED.revoked)
      this.#fail(new RingportError("unauthorized", reason || "the token was revoked"));
    else if (code === CLOSED.notAudio)
      this.#fail(
        new RingportError("audio_unsupported", reason || "what was written is not the audio that it should be"),
      );
    else this.#fail(new RingportError("stream_overflow", reason || "more audio was written than waits"));
  }

  /** Where the next connection goes. */
  async #address(): Promise<string> {
    const { transport, callId, query } = this.#options;
    const { signal: stopped } = this.#stop;
    const signal = this.#wasOpen ? AbortSignal.any([stopped, AbortSignal.timeout(ATTEMPT_MS)]) : stopped;
    const path = callPath(callId);
    try {
      if (this.#isUnexplained) await this.#askWhy(`${path}/stream`, signal);
      const { body } = await transport.post<StreamTicket>(`${path}/stream-ticket`, {}, undefined, { signal });
      this.#isOpening = true;
      const address = `${transport.url.replace(/^http/i, "ws")}${path}/stream`;
      return `${address}?${query}&ticket=${encodeURIComponent(body.ticket)}`;
    } catch (error) {
      this.#refused(error);
      throw new Error("there is no address", { cause: error });
    }
  }

  /** @throws {RingportError} why the server refuses the WebSocket; nothing where it refuses none */
  async #askWhy(path: string, signal: AbortSignal): Promise<void> {
    this.#isUnexplained = false;
    try {
      await this.#options.transport.get(path, Object.fromEntries(this.#options.query), { signal });
    } catch (error) {
      if (!(error instanceof RingportError && error.code === "upgrade_required")) throw error;
      this.#lastError = new RingportError("network_error", "the server answers, but no WebSocket to it can be opened");
    }
  }

  #refused(error: unknown): void {
    if (this.#stop.signal.aborted) return;
    this.#lastError = error;
    if (!(error instanceof RingportError)) return; // the attempt took too long
    // Who comes back may still be taken for there: the server has not noticed yet that the connection broke.
    const passes = error.status === 0 || error.status >= 500 || error.code === "stream_already_attached";
    if (!this.#wasOpen || !passes) this.#fail(error);
  }

  /** From now on it is waited for a connection that lasts. */
  #wait(): void {
    this.#brokenAt ??= performance.now();
    const leftMs = this.#brokenAt + this.#options.reconnectMs - performance.now();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#giveUp(), leftMs);
  }

  #giveUp(): void {
    const { reconnectMs, callId } = this.#options;
    const cause = this.#lastError;
    if (this.#wasOpen) {
      const message = `the stream of ${callId} broke, and did not come back within ${reconnectMs} ms`;
      this.#fail(new RingportError("stream_lost", message, { cause }));
    } else if (cause instanceof RingportError) this.#fail(cause);
    else this.#fail(new RingportError("timeout", `the stream of ${callId} did not open within ${reconnectMs} ms`));
  }

  #fail(error: RingportError): void {
    if (this.#stop.signal.aborted) return;
    this.close();
    this.#listener.failed(error);
  }
}

/** The server has closed it and will say the same again. partysocket's own events stand for a connection that broke. */
function isForGood(event: { readonly code: number }): boolean {
  return !(event instanceof CloseEvent) && (Object.values(CLOSED) as number[]).includes(event.code);
}
