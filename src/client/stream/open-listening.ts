import { callPath } from "../calls-client.ts";
import type { Transport } from "../http-transport.ts";
import { RingportError } from "../ringport-error.ts";
import type { StreamTicket } from "../views.ts";
import type { CallListening, ListenItem, ListenOptions } from "./call-listening.ts";

/** Maximum length of the audio that is kept for the loop, s. */
const MAX_BUFFER_S = 60;
const CLOSED = { completed: 1000, stopping: 1001, revoked: 4001 };

/**
 * Connects to a live call as a listener.
 * @throws {RingportError} the server refuses the listener, or is unreachable
 * @throws the reason of `signal` when it is aborted
 */
export async function openListening(
  transport: Transport,
  callId: string,
  options: ListenOptions = {},
): Promise<CallListening> {
  options.signal?.throwIfAborted();
  const path = callPath(callId);
  const { body } = await transport.post<StreamTicket>(`${path}/stream-ticket?for=listen`, {}, undefined, options);
  const address = `${transport.url.replace(/^http/i, "ws")}${path}/listen?ticket=${encodeURIComponent(body.ticket)}`;
  const Socket = (options.WebSocket ?? WebSocket) as typeof WebSocket;
  const listening = new Listening(callId, new Socket(address), options.signal);
  if (await listening.whenOpen) return listening;
  options.signal?.throwIfAborted();
  // A WebSocket cannot read why a server refuses it, so the reason is requested over HTTP.
  const reason = await transport.get(`${path}/listen`, {}, options).catch((error: unknown) => error);
  if (reason instanceof RingportError && reason.code !== "upgrade_required") throw reason;
  throw new RingportError("network_error", "the server is reachable, but no WebSocket to it can be opened");
}

class Listening implements CallListening {
  readonly callId: string;
  /** Resolves with true if the server has accepted the listener. */
  readonly whenOpen: Promise<boolean>;
  readonly #socket: WebSocket;
  readonly #signal: AbortSignal | undefined;
  readonly #items: ListenItem[] = [];
  #sampleRate = 0;
  /** Number of samples, of both channels, that wait for the loop. */
  #bufferedSamples = 0;
  /** Number of samples, of both channels, that were dropped because they were not read. */
  #droppedSamples = 0;
  #end: { readonly error?: unknown } | undefined;
  #wake: () => void = () => {};

  constructor(callId: string, socket: WebSocket, signal: AbortSignal | undefined) {
    this.callId = callId;
    this.#socket = socket;
    this.#signal = signal;
    socket.binaryType = "arraybuffer";
    // `ws` throws an error without a handler. A close event follows every error.
    socket.onerror = () => {};
    socket.onmessage = ({ data }) => this.#onMessage(data as string | ArrayBuffer);
    this.whenOpen = new Promise((resolve) => {
      socket.onopen = () => resolve(true);
      socket.onclose = ({ code, reason }) => {
        resolve(false);
        this.#finish(errorOf(code, reason));
      };
    });
    signal?.addEventListener("abort", this.#abort);
    if (signal?.aborted) this.#abort();
  }

  close(): void {
    this.#clear();
    this.#finish(undefined);
    this.#socket.close(1000);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ListenItem, void, undefined> {
    try {
      for (;;) {
        for (let item = this.#next(); item; item = this.#next()) {
          this.#signal?.throwIfAborted();
          yield item;
        }
        if (this.#end) break;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
      if ("error" in this.#end) throw this.#end.error;
    } finally {
      this.close();
    }
  }

  #next(): ListenItem | undefined {
    const item = this.#items[0];
    if (item?.type === "audio") {
      if (this.#droppedSamples > 0) {
        const lost_ms = Math.round((this.#droppedSamples * 500) / this.#sampleRate);
        this.#droppedSamples = 0;
        return { type: "gap", lost_ms };
      }
      this.#bufferedSamples -= item.samples.length;
    }
    return this.#items.shift();
  }

  #onMessage(data: string | ArrayBuffer): void {
    if (this.#end) return;
    if (typeof data !== "string") {
      const samples = new Int16Array(data, 0, data.byteLength >> 1);
      this.#items.push({ type: "audio", samples });
      this.#bufferedSamples += samples.length;
      while (this.#bufferedSamples > 2 * MAX_BUFFER_S * this.#sampleRate) this.#dropOldest();
    } else {
      const message = JSON.parse(data) as ListenItem;
      if (message.type === "started") this.#sampleRate = message.sample_rate;
      this.#items.push(message);
    }
    this.#wake();
  }

  #dropOldest(): void {
    const oldest = this.#items.findIndex(({ type }) => type === "audio");
    for (const item of this.#items.splice(oldest, 1))
      if (item.type === "audio") {
        this.#bufferedSamples -= item.samples.length;
        this.#droppedSamples += item.samples.length;
      }
  }

  #clear(): void {
    this.#items.length = 0;
    this.#bufferedSamples = 0;
  }

  readonly #abort = (): void => {
    this.#clear();
    this.#finish(this.#signal?.reason);
    this.#socket.close();
  };

  #finish(error: unknown): void {
    this.#signal?.removeEventListener("abort", this.#abort);
    this.#end ??= error === undefined ? {} : { error };
    this.#wake();
  }
}

function errorOf(code: number, reason: string): RingportError | undefined {
  if (code === CLOSED.completed) return undefined;
  if (code === CLOSED.revoked) return new RingportError("unauthorized", reason || "the token was revoked");
  if (code === CLOSED.stopping) return new RingportError("stopping", reason || "the server is stopping");
  return new RingportError("stream_lost", reason || "the connection was lost; listen again");
}
