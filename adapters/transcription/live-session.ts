import { Queue } from "../../src/base/queue.ts";
import type { TranscriptionEvent, TranscriptionSession } from "../../src/ports/transcription.ts";
import { jsonOf } from "../provider-http/fault-text.ts";
import { engineFault } from "./engine-fault.ts";
import type { LiveProtocol, ResponseReader } from "./live-protocol.ts";
import { ReconnectingSocket } from "./reconnecting-socket.ts";
import { type TimeSpan, UnprocessedAudio } from "./unprocessed-audio.ts";

/** Timeouts of a live session, ms. */
export interface LiveTimeouts {
  /** Time limit for a connection attempt, ms. Default: 10,000. */
  readonly connectMs?: number | undefined;
  /** Longest silence from the engine while a response is due, ms. Default: 10,000. */
  readonly answerMs?: number | undefined;
  /** Time to wait for responses after the end of a call, ms. Default: 5,000. */
  readonly closeMs?: number | undefined;
  /** Time without audio after which a keep-alive is sent, ms. Default: 4,000. */
  readonly keepAliveMs?: number | undefined;
  /** Pause before the first attempt to reconnect, ms; doubled before each further attempt. Default: 250. */
  readonly retryMs?: number | undefined;
}

/** Length of dropped audio that causes a report, ms. */
const DROP_REPORT_MS = 1_000;

/**
 * Transcribes one speaker over a WebSocket. Reconnects with growing pauses, and sends unprocessed audio again. Never
 * blocks: while the engine cannot accept audio, only the newest `keepMs` of it is kept.
 */
export class LiveSession implements TranscriptionSession {
  readonly events = new Queue<TranscriptionEvent>();
  readonly #protocol: LiveProtocol;
  readonly #timeouts: Required<{ [K in keyof LiveTimeouts]: number }>;
  readonly #audio: UnprocessedAudio;
  readonly #checkTimer: ReturnType<typeof setInterval>;
  #socket: ReconnectingSocket | undefined;
  #reader: ResponseReader | undefined;
  /** Time of the first audio on this connection, ms. */
  #startMs: number | undefined;
  #sentAt = 0;
  #receivedAt = 0;
  /** Time at which a response became due. */
  #dueSince: number | undefined;
  #reportedDropsMs = 0;
  #closePromise: Promise<void> | undefined;
  #closeTimer: ReturnType<typeof setTimeout> | undefined;
  #isFinishing = false;
  #hasEnded = false;
  #resolveClose: () => void = () => {};

  /** @param keepMs maximum amount of audio kept for a slow engine or for the next connection, ms */
  constructor(
    protocol: LiveProtocol,
    { sampleRate, keepMs }: { sampleRate: number; keepMs: number },
    timeouts: LiveTimeouts,
    signal: AbortSignal,
  ) {
    this.#protocol = protocol;
    this.#timeouts = {
      connectMs: timeouts.connectMs ?? 10_000,
      answerMs: timeouts.answerMs ?? 10_000,
      closeMs: timeouts.closeMs ?? 5_000,
      keepAliveMs: timeouts.keepAliveMs ?? 4_000,
      retryMs: timeouts.retryMs ?? 250,
    };
    this.#audio = new UnprocessedAudio(sampleRate, keepMs);
    const { keepAliveMs, answerMs } = this.#timeouts;
    this.#checkTimer = setInterval(() => this.#check(), Math.min(1_000, keepAliveMs / 2, answerMs / 2));
    signal.addEventListener("abort", () => this.#end(), { once: true });
    if (signal.aborted) this.#end();
    else this.#socket = this.#connect();
  }

  push(samples: Int16Array, atMs: number): void {
    if (this.#hasEnded || this.#closePromise) return;
    this.#audio.push(samples, atMs);
    this.#send();
  }

  commit(): void {
    if (this.#hasEnded || this.#closePromise) return;
    this.#audio.commit();
    this.#send();
  }

  close(): Promise<void> {
    this.#closePromise ??= new Promise<void>((resolve) => {
      this.#resolveClose = resolve;
      if (this.#hasEnded) resolve();
      else this.#finish();
    });
    return this.#closePromise;
  }

  #connect(): ReconnectingSocket {
    const { connectMs, retryMs, answerMs } = this.#timeouts;
    return new ReconnectingSocket(
      this.#protocol,
      { connectMs, retryMs, stableMs: answerMs },
      {
        opened: () => this.#onOpened(),
        message: (text) => this.#onMessage(text),
        lost: () => this.#onLost(),
        unreachable: (problem) => this.#reportFault(`cannot be reached: it ${problem}`, false),
        refused: (problem) => this.#reportFault(problem, true),
      },
    );
  }

  #onOpened(): void {
    const startMs = (): number => this.#startMs ?? 0;
    this.#audio.rewind();
    this.#receivedAt = performance.now();
    this.#sentAt = this.#receivedAt;
    this.#dueSince = undefined;
    this.#startMs = undefined;
    this.#reader = this.#protocol.reader({
      get startMs() {
        return startMs();
      },
      emit: (event) => this.#emit(event),
      processed: (span) => this.#onProcessed(span),
      fault: (problem, isPermanent) => this.#reportFault(problem, isPermanent),
    });
    for (const message of this.#protocol.opening) this.#socket?.send(message);
    this.#send();
    if (this.#closePromise) this.#finish();
  }

  #onLost(): void {
    this.#reader = undefined;
    this.#audio.rewind();
    if (this.#isFinishing) this.#end(); // the engine has processed everything
  }

  #send(): void {
    if (!this.#socket?.isOpen) {
      this.#reportDrops();
      return;
    }
    for (let item = this.#audio.take(); item; item = this.#audio.take()) {
      if (item.kind === "audio") {
        this.#startMs ??= item.startMs;
        for (const message of this.#protocol.audio(item.samples, item.isFirst)) this.#socket.send(message);
        if (this.#protocol.commit.length === 0) this.#expectResponse();
      } else {
        for (const message of this.#protocol.commit) this.#socket.send(message);
        this.#reader?.committed?.(item);
        this.#expectResponse();
      }
      this.#sentAt = performance.now();
    }
  }

  #expectResponse(): void {
    this.#dueSince ??= performance.now();
  }

  #onMessage(text: string): void {
    const message = jsonOf(text);
    this.#receivedAt = performance.now();
    if (this.#protocol.commit.length === 0) this.#dueSince = undefined;
    if (message !== null && !this.#hasEnded) this.#reader?.read(message as Readonly<Record<string, unknown>>);
  }

  #emit(event: TranscriptionEvent): void {
    if (event.type !== "error") this.#socket?.resetPause();
    this.events.push(event);
  }

  #onProcessed(span: TimeSpan): void {
    this.#audio.markProcessed(span);
    if (this.#audio.turns === 0) this.#dueSince = undefined;
    else if (this.#dueSince !== undefined) this.#dueSince = performance.now();
    if (this.#closePromise && this.#protocol.finish.length === 0 && this.#audio.turns === 0) this.#end();
  }

  #reportFault(problem: string, isPermanent: boolean): void {
    const error = engineFault(`the transcription server ${problem}`, this.#protocol.secrets);
    this.events.push({ type: "error", error, recoverable: !isPermanent });
    if (isPermanent) this.#end();
  }

  /** Called periodically: sends keep-alives, and drops a connection on which a response is overdue. */
  #check(): void {
    if (!this.#socket?.isOpen) return;
    const now = performance.now();
    const { keepAliveMs, answerMs } = this.#timeouts;
    const dueSince = this.#dueSince;
    if (dueSince !== undefined && now - Math.max(dueSince, this.#receivedAt) > answerMs) {
      this.#reportFault(`did not respond within ${answerMs} ms`, false);
      this.#socket.drop("did not respond");
    } else if (this.#protocol.keepAlive !== undefined && now - this.#sentAt > keepAliveMs) {
      this.#socket.send(this.#protocol.keepAlive);
      this.#sentAt = now;
    }
  }

  #reportDrops(): void {
    const droppedMs = this.#audio.droppedMs - this.#reportedDropsMs;
    if (droppedMs < DROP_REPORT_MS) return;
    this.#reportedDropsMs = this.#audio.droppedMs;
    this.#reportFault(`is not connected: ${Math.round(droppedMs)} ms of audio were dropped`, false);
  }

  /** Sends the remaining audio and waits for the responses. */
  #finish(): void {
    this.#audio.flush();
    this.#send();
    const { finish } = this.#protocol;
    const isComplete = finish.length > 0 ? this.#audio.isEmpty : this.#audio.turns === 0;
    if (isComplete) {
      this.#end();
      return;
    }
    this.#closeTimer ??= setTimeout(() => this.#giveUp(), this.#timeouts.closeMs);
    if (!this.#socket?.isOpen || finish.length === 0) return;
    this.#isFinishing = true;
    for (const message of finish) this.#socket.send(message);
  }

  #giveUp(): void {
    if (this.#hasEnded) return;
    this.#reportFault(`did not respond within ${this.#timeouts.closeMs} ms after the call`, false);
    this.#end();
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearInterval(this.#checkTimer);
    clearTimeout(this.#closeTimer);
    this.#socket?.close();
    this.events.close();
    this.#resolveClose();
  }
}
