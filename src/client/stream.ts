import { decodeMulaw, encodeMulaw } from "../audio/g711.ts";
import type { CompletedReason, FailedReason } from "../domain/outcome.ts";
import type { StreamProgress } from "../http/answers.ts";
import { callPath } from "./calls-client.ts";
import { RingportError } from "./ringport-error.ts";
import { StreamConnection, type WebSocketConstructor } from "./stream-connection.ts";
import { Inbox } from "./stream-inbox.ts";
import type { StreamEvent } from "./stream-messages.ts";
import { Outbox } from "./stream-outbox.ts";
import { Replay } from "./stream-replay.ts";
import { type MarkEnd, Replies } from "./stream-replies.ts";
import type { RequestOptions, Transport } from "./transport.ts";
import type { Call } from "./views.ts";

/** How the audio of a call is streamed. */
export interface StreamOptions extends RequestOptions {
  /** Of what is written. Default: `pcm_s16le`, 16-bit little-endian samples. */
  readonly encoding?: "pcm_s16le" | "mulaw" | "mp3" | undefined;
  /** Of PCM and mu-law, and of the callee's audio, Hz. Default: 16,000; of mu-law 8,000. */
  readonly sampleRate?: 8_000 | 16_000 | 24_000 | 48_000 | undefined;
  /** `callee` brings what the callee says to {@link CallStream.audio}. Default: nobody is heard. */
  readonly audio?: "callee" | undefined;
  /** How long to try to come back when the connection breaks, ms. Default: 10,000, as long as the server waits. */
  readonly reconnectMs?: number | undefined;
  /** Opens the connection. Default: the global `WebSocket`. */
  readonly WebSocket?: WebSocketConstructor | undefined;
}

/** How a stream ended. */
export interface StreamEnd {
  /** `closed`: by `close()`; what becomes of the call is seen by reading it. */
  readonly status: "completed" | "failed" | "closed";
  readonly reason: CompletedReason | FailedReason | null;
}

/**
 * The live audio of one call. A connection that breaks comes back by itself, and nothing that was written is lost or
 * heard twice. Promises and iterators reject with a {@link RingportError} when the stream fails for good.
 */
export interface CallStream {
  readonly callId: string;
  /** Resolves when the call is over, or the stream was closed; rejects when it failed for good. */
  readonly ended: Promise<StreamEnd>;
  /** Frames and events that were dropped because nobody read them: at most 60 s of audio and 10,000 events are kept. */
  readonly dropped: { readonly frames: number; readonly events: number };
  /** What happens, from the first event of the call on. One loop at a time; the next one goes on where it stopped. */
  events(): AsyncGenerator<StreamEvent, void, undefined>;
  /** What the callee says: 20 ms in each frame, from the answer on. Only with the option `audio`. One loop at a time. */
  audio(): AsyncGenerator<Int16Array<ArrayBuffer>, void, undefined>;
  /**
   * Adds audio to what the callee is to hear: samples, or bytes of the encoding, cut anywhere. Resolves when more may be
   * written; until then the array must stay as it is. Answers false once the call is over: then this is not heard.
   * Rejects with `stream_overflow` when more than 60 s wait because nobody waited for this promise.
   */
  write(audio: Int16Array | Uint8Array): Promise<boolean>;
  /** Resolves when everything written so far was heard, or never will be. @throws {RangeError} the name has not 1 to 256 characters */
  mark(name: string): Promise<MarkEnd>;
  /** Drops everything that waits to be heard; answers how much of all the audio was heard, ms. */
  clear(): Promise<number>;
  /** Presses keys behind everything written so far: 0-9 * # A-D. @throws {RangeError} others, or none, or over 64 of them */
  dtmf(digits: string): Promise<void>;
  /** Ends the call when everything written so far was heard, or at once before the answer; resolves when it is over. */
  hangUp(): Promise<StreamEnd>;
  /** Leaves when everything written so far has reached the server, which ends the call when that was heard. */
  close(): Promise<void>;
}

const RECONNECT_MS = 10_000;
/** What may be on its way to the server, and wait behind that, s. */
const WINDOW_S = 2;
const MOST_WAITING_S = 60;
/** An MP3 of 64 kbit/s; the encoding does not tell its rate before it is decoded. */
const MP3_BYTES_PER_S = 8_000;
const MOST_FRAMES = 3_000;
const MOST_EVENTS = 10_000;
const MOST_MARK_CHARACTERS = 256;

/**
 * Connects to the stream of a call.
 * @throws {RingportError} it is refused, or cannot be reached
 * @throws the reason of `signal` when that fires
 */
export async function openStream(
  transport: Transport,
  callId: string,
  options: StreamOptions = {},
): Promise<CallStream> {
  options.signal?.throwIfAborted();
  const stream = new LiveStream(transport, callId, options);
  await stream.opened;
  return stream;
}

class LiveStream implements CallStream {
  readonly callId: string;
  /** Resolves with the first connection. */
  readonly opened: Promise<void>;
  readonly ended: Promise<StreamEnd>;
  readonly #transport: Transport;
  readonly #encoding: NonNullable<StreamOptions["encoding"]>;
  readonly #hears: boolean;
  readonly #connection: StreamConnection;
  readonly #outbox: Outbox;
  readonly #events = new Inbox<StreamEvent>("events()", MOST_EVENTS);
  readonly #frames = new Inbox<Int16Array<ArrayBuffer>>("audio()", MOST_FRAMES);
  readonly #replies = new Replies();
  readonly #replay = new Replay();
  readonly #leave: () => void;
  /** What the last event of the call said. */
  #lastEnd: StreamEnd | undefined;
  /** The first half of a sample that was cut. */
  #half: number | undefined;
  /** What is told to who wants something of a stream that is over. */
  readonly #overError = new RingportError("call_ended", "the stream is over: nothing more can be sent");
  #wasOpen = false;
  #isOver = false;
  #resolveOpened: () => void = () => {};
  #resolveEnded: (end: StreamEnd) => void = () => {};
  #rejectEnded: (error: unknown) => void = () => {};

  constructor(transport: Transport, callId: string, options: StreamOptions) {
    const { encoding = "pcm_s16le", audio, reconnectMs = RECONNECT_MS, WebSocket, signal } = options;
    const { sampleRate = encoding === "mulaw" ? 8_000 : 16_000 } = options;
    this.callId = callId;
    this.#transport = transport;
    this.#encoding = encoding;
    this.#hears = audio !== undefined;
    this.ended = new Promise((resolve, reject) => {
      this.#resolveEnded = resolve;
      this.#rejectEnded = reject;
    });
    this.opened = new Promise((resolve, reject) => {
      this.#resolveOpened = resolve;
      this.ended.then(() => resolve(), reject);
    });
    const bytesPerSecond = encoding === "mp3" ? MP3_BYTES_PER_S : encoding === "mulaw" ? sampleRate : 2 * sampleRate;
    this.#outbox = new Outbox(WINDOW_S * bytesPerSecond, MOST_WAITING_S * bytesPerSecond);
    const query = new URLSearchParams({ encoding, sample_rate: String(sampleRate), ...(audio ? { audio } : {}) });
    this.#connection = new StreamConnection(
      { transport, callId, query, reconnectMs, WebSocket },
      {
        opened: (send) => {
          this.#replay.begin();
          this.#outbox.connected(send);
        },
        received: (data) => this.#received(data),
        lost: () => this.#outbox.disconnected(),
        over: (status) => this.#finish(this.#lastEnd ?? { status, reason: null }),
        failed: (error) => void this.#lost(error),
      },
    );
    this.#leave = () => this.#fail(signal?.reason);
    signal?.addEventListener("abort", this.#leave, { once: true });
    this.ended.finally(() => signal?.removeEventListener("abort", this.#leave)).catch(() => {});
  }

  get dropped(): { readonly frames: number; readonly events: number } {
    return { frames: this.#frames.dropped, events: this.#events.dropped };
  }

  events(): AsyncGenerator<StreamEvent, void, undefined> {
    return this.#events.read();
  }

  audio(): AsyncGenerator<Int16Array<ArrayBuffer>, void, undefined> {
    if (!this.#hears) throw new TypeError('nobody is heard on this stream: open it with the option audio: "callee"');
    return this.#frames.read();
  }

  write(audio: Int16Array | Uint8Array): Promise<boolean> {
    const bytes = this.#bytesOf(audio);
    if (bytes.length === 0) return Promise.resolve(!this.#isOver);
    const full = (): Error =>
      new RingportError("stream_overflow", `more than ${MOST_WAITING_S} s of audio wait: await what write() answers`);
    const written = this.#outbox.write(bytes, full).then(
      () => true,
      (error: unknown) => {
        if (error === this.#overError) return false;
        throw error;
      },
    );
    return quiet(written);
  }

  mark(name: string): Promise<MarkEnd> {
    if (name.length < 1 || name.length > MOST_MARK_CHARACTERS)
      throw new RangeError(`the name of a mark has 1 to ${MOST_MARK_CHARACTERS} characters`);
    const reached = this.#replies.mark(name);
    this.#outbox.tell({ type: "mark", name }, false).catch((error: unknown) => this.#replies.end(error));
    return reached;
  }

  clear(): Promise<number> {
    this.#half = undefined;
    const cleared = quiet(this.#replies.clear());
    this.#outbox.clear({ type: "clear" }).catch((error: unknown) => this.#replies.end(error));
    return cleared;
  }

  dtmf(digits: string): Promise<void> {
    if (!/^[0-9*#A-D]{1,64}$/.test(digits))
      throw new RangeError(`"${digits}" is not 1 to 64 keys of a telephone: 0-9 * # A-D`);
    return quiet(this.#outbox.tell({ type: "dtmf", digits }, true));
  }

  hangUp(): Promise<StreamEnd> {
    void quiet(this.#outbox.tell({ type: "hangup" }, true));
    return this.ended;
  }

  async close(): Promise<void> {
    await this.#outbox.drained();
    this.#finish({ status: "closed", reason: null });
  }

  /** The bytes of whole samples. */
  #bytesOf(audio: Int16Array | Uint8Array): Uint8Array<ArrayBuffer> {
    if (audio instanceof Int16Array) {
      if (this.#encoding === "mulaw") return encodeMulaw(audio) as Uint8Array<ArrayBuffer>;
      if (this.#encoding === "mp3")
        throw new TypeError("samples cannot be written to a stream of MP3: write its bytes");
    }
    // Typed arrays have the byte order of the machine, which is little-endian wherever JavaScript runs.
    const bytes = new Uint8Array(audio.buffer as ArrayBuffer, audio.byteOffset, audio.byteLength);
    if (this.#encoding !== "pcm_s16le" || (this.#half === undefined && bytes.length % 2 === 0)) return bytes;
    // A sample that is cut is sent as a whole: a connection that breaks within it would shift all others.
    const whole = new Uint8Array(bytes.length + (this.#half === undefined ? 0 : 1));
    if (this.#half !== undefined) whole[0] = this.#half;
    whole.set(bytes, whole.length - bytes.length);
    this.#half = whole.length % 2 === 0 ? undefined : whole.at(-1);
    return whole.subarray(0, whole.length & ~1);
  }

  #received(data: string | ArrayBuffer): void {
    if (typeof data !== "string") {
      const isMulaw = this.#encoding === "mulaw";
      const samples = isMulaw ? decodeMulaw(new Uint8Array(data)) : new Int16Array(data, 0, data.byteLength >> 1);
      this.#frames.push(samples as Int16Array<ArrayBuffer>);
      return;
    }
    const message = JSON.parse(data) as StreamEvent | StreamProgress;
    if (message.type === "progress") {
      if (!this.#outbox.progress(message.messages, message.queued_ms)) return;
      this.#replay.over();
      this.#wasOpen = true;
      this.#resolveOpened();
      return;
    }
    if (message.type === "call_event") {
      if (!this.#replay.isNew(data, message.event)) return;
      if (message.event === "mark") this.#replies.reached(message.name);
      else if (message.event === "cleared") this.#replies.cleared(message.heard_ms);
      else if (message.event === "completed" || message.event === "failed")
        this.#lastEnd = { status: message.event, reason: message.reason };
    } else if (message.type === "transcript" && message.final && !this.#replay.isNew(data, "transcript")) return;
    this.#events.push(message);
  }

  /** There is no way back to the stream; where that is because the call has ended meanwhile, it ended as calls do. */
  async #lost(error: RingportError): Promise<void> {
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
    if (this.#isOver) return;
    this.#end(this.#overError);
    this.#resolveEnded(end);
  }

  #fail(error: unknown): void {
    if (this.#isOver) return;
    this.#end(error, error);
    this.#rejectEnded(error);
  }

  /** @param ...fault what readers get after the last that came in */
  #end(why: unknown, ...fault: [unknown?]): void {
    this.#isOver = true;
    this.#connection.close();
    this.#outbox.end(why);
    this.#replies.end(why);
    this.#events.end(...fault);
    this.#frames.end(...fault);
  }
}

/** The same promise; that it rejects is no fault of a program that does not wait for it. */
function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
