import type { StreamProgress } from "../../http/response-types.ts";
import { callPath } from "../calls-client.ts";
import type { Transport } from "../http-transport.ts";
import { RingportError } from "../ringport-error.ts";
import type { Call } from "../views.ts";
import type { CallStream, StreamEnd, StreamOptions } from "./call-stream.ts";
import { StreamCodec } from "./stream-codec.ts";
import { StreamConnection } from "./stream-connection.ts";
import { Inbox } from "./stream-inbox.ts";
import type { StreamEvent } from "./stream-messages.ts";
import { Outbox } from "./stream-outbox.ts";
import { Replay } from "./stream-replay.ts";
import { type MarkEnd, Replies } from "./stream-replies.ts";

const RECONNECT_MS = 10_000;
/** Maximum length of unconfirmed audio, and of the audio that waits behind it, s. */
const WINDOW_S = 2;
const MAX_WAITING_S = 60;
const MAX_FRAMES = 3_000;
const MAX_EVENTS = 10_000;
const MAX_MARK_CHARACTERS = 256;

/**
 * Connects to the stream of a call.
 * @throws {RingportError} the server refuses the stream, or is unreachable
 * @throws the reason of `signal` when it is aborted
 */
export async function openStream(
  transport: Transport,
  callId: string,
  options: StreamOptions = {},
): Promise<CallStream> {
  options.signal?.throwIfAborted();
  const stream = new LiveStream(transport, callId, options);
  await stream.whenOpen;
  return stream;
}

class LiveStream implements CallStream {
  readonly callId: string;
  /** Resolves with the first connection. */
  readonly whenOpen: Promise<void>;
  readonly ended: Promise<StreamEnd>;
  readonly #transport: Transport;
  readonly #codec: StreamCodec;
  readonly #receivesAudio: boolean;
  readonly #connection: StreamConnection;
  readonly #outbox: Outbox;
  readonly #events = new Inbox<StreamEvent>("events()", MAX_EVENTS);
  readonly #frames = new Inbox<Int16Array<ArrayBuffer>>("audio()", MAX_FRAMES);
  readonly #replies = new Replies();
  readonly #replay = new Replay();
  readonly #onAbort: () => void;
  /** The end of the call, from its last event. */
  #lastEnd: StreamEnd | undefined;
  /** The error of a method that is called after the end. */
  readonly #endedError = new RingportError("call_ended", "the stream has ended: no more can be sent");
  #wasOpen = false;
  #hasEnded = false;
  readonly #opened = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<StreamEnd>();

  constructor(transport: Transport, callId: string, options: StreamOptions) {
    const { audio, reconnectMs = RECONNECT_MS, WebSocket, signal } = options;
    this.#codec = new StreamCodec(options);
    const { encoding, sampleRate, bytesPerSecond } = this.#codec;
    this.callId = callId;
    this.#transport = transport;
    this.#receivesAudio = audio !== undefined;
    this.ended = this.#ended.promise;
    this.whenOpen = this.#opened.promise;
    this.ended.then(() => this.#opened.resolve(), this.#opened.reject);
    this.#outbox = new Outbox(WINDOW_S * bytesPerSecond, MAX_WAITING_S * bytesPerSecond);
    const query = new URLSearchParams({ encoding, sample_rate: String(sampleRate), ...(audio ? { audio } : {}) });
    this.#connection = new StreamConnection(
      { transport, callId, query, reconnectMs, WebSocket },
      {
        onOpen: (send) => {
          this.#replay.begin();
          this.#outbox.onConnected(send);
        },
        onMessage: (data) => this.#onMessage(data),
        onLost: () => this.#outbox.onDisconnected(),
        onEnd: (status) => this.#finish(this.#lastEnd ?? { status, reason: null }),
        onFailure: (error) => void this.#handleFailure(error),
      },
    );
    this.#onAbort = () => this.#fail(signal?.reason);
    signal?.addEventListener("abort", this.#onAbort, { once: true });
    this.ended.finally(() => signal?.removeEventListener("abort", this.#onAbort)).catch(() => {});
  }

  get dropped(): { readonly frames: number; readonly events: number } {
    return { frames: this.#frames.dropped, events: this.#events.dropped };
  }

  events(): AsyncGenerator<StreamEvent, void, undefined> {
    return this.#events.read();
  }

  audio(): AsyncGenerator<Int16Array<ArrayBuffer>, void, undefined> {
    if (!this.#receivesAudio)
      throw new TypeError('the stream does not receive audio: open it with the option audio: "callee"');
    return this.#frames.read();
  }

  write(audio: Int16Array | Uint8Array): Promise<boolean> {
    const bytes = this.#codec.encode(audio);
    if (bytes.length === 0) return Promise.resolve(!this.#hasEnded);
    const overflowError = (): Error =>
      new RingportError(
        "stream_overflow",
        `more than ${MAX_WAITING_S} s of audio are queued: await the promise of write()`,
      );
    const result = this.#outbox.write(bytes, overflowError).then(
      () => true,
      (error: unknown) => {
        if (error === this.#endedError) return false;
        throw error;
      },
    );
    return ignoreRejection(result);
  }

  mark(name: string): Promise<MarkEnd> {
    if (name.length < 1 || name.length > MAX_MARK_CHARACTERS)
      throw new RangeError(
        `the name of the mark has ${name.length} characters: it must have 1 to ${MAX_MARK_CHARACTERS}`,
      );
    const markEnd = this.#replies.mark(name);
    this.#outbox.send({ type: "mark", name }, false).catch((error: unknown) => this.#replies.end(error));
    return markEnd;
  }

  clear(): Promise<number> {
    this.#codec.reset();
    const result = ignoreRejection(this.#replies.clear());
    this.#outbox.clear({ type: "clear" }).catch((error: unknown) => this.#replies.end(error));
    return result;
  }

  dtmf(digits: string): Promise<void> {
    if (!/^[0-9*#A-D]{1,64}$/.test(digits))
      throw new RangeError(`digits is "${digits}": it must be 1 to 64 of the keys 0-9 * # A-D`);
    return ignoreRejection(this.#outbox.send({ type: "dtmf", digits }, true));
  }

  hangUp(): Promise<StreamEnd> {
    void ignoreRejection(this.#outbox.send({ type: "hangup" }, true));
    return this.ended;
  }

  async close(): Promise<void> {
    await this.#outbox.whenDrained();
    this.#finish({ status: "closed", reason: null });
  }

  #onMessage(data: string | ArrayBuffer): void {
    if (typeof data !== "string") {
      this.#frames.push(this.#codec.decode(data));
      return;
    }
    const message = JSON.parse(data) as StreamEvent | StreamProgress;
    if (message.type === "progress") {
      if (!this.#outbox.progress(message.messages, message.queued_ms)) return;
      this.#replay.end();
      this.#wasOpen = true;
      this.#opened.resolve();
      return;
    }
    if (message.type === "call_event") {
      if (!this.#replay.isNew(data, message.event)) return;
      if (message.event === "mark") this.#replies.onMarkReached(message.name);
      else if (message.event === "cleared") this.#replies.onCleared(message.heard_ms);
      else if (message.event === "completed" || message.event === "failed")
        this.#lastEnd = { status: message.event, reason: message.reason };
    } else if (message.type === "transcript" && message.final && !this.#replay.isNew(data, "transcript")) return;
    this.#events.push(message);
  }

  /** Ends a stream that cannot be restored; if the call has ended in the meantime, with the call's outcome. */
  async #handleFailure(error: RingportError): Promise<void> {
    if (error.code === "call_ended" && this.#wasOpen) {
      const path = callPath(this.callId);
      const call = await this.#transport.get<Call>(path, { expand: "outcome" }).catch(() => undefined);
      if (call?.outcome) {
        const status = call.status === "COMPLETED" ? "completed" : "failed";
        return this.#finish({ status, reason: call.outcome.reason });
      }
    }
    this.#fail(error);
  }

  #finish(end: StreamEnd): void {
    if (this.#hasEnded) return;
    this.#end(this.#endedError);
    this.#ended.resolve(end);
  }

  #fail(error: unknown): void {
    if (this.#hasEnded) return;
    this.#end(error, error);
    this.#ended.reject(error);
  }

  /** @param fault error for readers after the last item; omitted for a normal end */
  #end(reason: unknown, ...fault: [unknown?]): void {
    this.#hasEnded = true;
    this.#connection.close();
    this.#outbox.end(reason);
    this.#replies.end(reason);
    this.#events.end(...fault);
    this.#frames.end(...fault);
  }
}

/** The same promise; an unhandled rejection of it is not an error. */
function ignoreRejection<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
