import type { TranscriptionEvent, TranscriptionSession } from "../../src/ports/transcription.ts";
import { jsonOf } from "../engine-http/fault-text.ts";
import { engineFault } from "./engine-fault.ts";
import { EngineSocket } from "./engine-socket.ts";
import { HeardEvents } from "./heard-events.ts";
import type { ConversationReader, LiveProtocol } from "./live-protocol.ts";
import { type Stretch, UnansweredAudio } from "./unanswered-audio.ts";

/** How patient a session is, ms; what is left out has its default. */
export interface LivePatience {
  /** A connection must be there within this time. Default: 10,000. */
  readonly connectMs?: number | undefined;
  /** An engine that has something to answer says something within this time. Default: 10,000. */
  readonly answerMs?: number | undefined;
  /** The end of a call waits for answers this long. Default: 5,000. */
  readonly closeMs?: number | undefined;
  /** A quiet connection is kept alive this often. Default: 4,000. */
  readonly keepAliveMs?: number | undefined;
  /** Between a broken connection and the first try of another one; doubled each time. Default: 250. */
  readonly retryMs?: number | undefined;
}

const LONGEST_RETRY_MS = 5_000;
/** Failed tries after which somebody is told. */
const TOLD_AFTER = 2;

/**
 * One speaker who is listened to over a WebSocket. A connection that breaks is made again, ever more slowly, and what
 * was not answered on it is sent once more. Nothing here waits: what the engine cannot take yet is held, the newest
 * `keepMs` of it.
 */
export class LiveSession implements TranscriptionSession {
  readonly events = new HeardEvents();
  readonly #protocol: LiveProtocol;
  readonly #patience: Required<{ [K in keyof LivePatience]: number }>;
  readonly #held: UnansweredAudio;
  readonly #clock: ReturnType<typeof setInterval>;
  #socket: EngineSocket | undefined;
  #reader: ConversationReader | undefined;
  #ready = false;
  #tries = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  /** When the first audio that was sent on this connection was heard. */
  #startMs: number | undefined;
  #openedAt = 0;
  #sentAt = 0;
  #heardAt = 0;
  /** Since when the engine has owed an answer. */
  #owedSince: number | undefined;
  #toldDroppedMs = 0;
  #closing: Promise<void> | undefined;
  #leaving: ReturnType<typeof setTimeout> | undefined;
  #farewell = false;
  #over = false;
  #resolveOver: () => void = () => {};

  /** @param keepMs how much is held for an engine that cannot take it, and for another try */
  constructor(
    protocol: LiveProtocol,
    { sampleRate, keepMs }: { sampleRate: number; keepMs: number },
    patience: LivePatience,
    signal: AbortSignal,
  ) {
    this.#protocol = protocol;
    this.#patience = {
      connectMs: patience.connectMs ?? 10_000,
      answerMs: patience.answerMs ?? 10_000,
      closeMs: patience.closeMs ?? 5_000,
      keepAliveMs: patience.keepAliveMs ?? 4_000,
      retryMs: patience.retryMs ?? 250,
    };
    this.#held = new UnansweredAudio(sampleRate, keepMs);
    const { keepAliveMs, answerMs } = this.#patience;
    this.#clock = setInterval(() => this.#look(), Math.min(1_000, keepAliveMs / 2, answerMs / 2));
    signal.addEventListener("abort", () => this.#end(), { once: true });
    if (signal.aborted) this.#end();
    else this.#connect();
  }

  push(samples: Int16Array, atMs: number): void {
    if (this.#over || this.#closing) return;
    this.#held.push(samples, atMs);
    this.#send();
  }

  commit(): void {
    if (this.#over || this.#closing) return;
    this.#held.commit();
    this.#send();
  }

  close(): Promise<void> {
    this.#closing ??= new Promise<void>((resolve) => {
      this.#resolveOver = resolve;
      if (this.#over) resolve();
      else this.#sayFarewell();
    });
    return this.#closing;
  }

  #connect(): void {
    const { url, headers } = this.#protocol;
    this.#tries++;
    const socket = new EngineSocket(url, headers, this.#patience.connectMs, {
      opened: () => this.#opened(),
      message: (text) => this.#message(text),
      lost: (why, lasting) => this.#lost(why, lasting),
    });
    this.#socket = socket;
  }

  #opened(): void {
    const startMs = (): number => this.#startMs ?? 0;
    this.#held.rewind();
    this.#ready = true;
    this.#openedAt = performance.now();
    this.#heardAt = this.#openedAt;
    this.#sentAt = this.#openedAt;
    this.#owedSince = undefined;
    this.#startMs = undefined;
    this.#reader = this.#protocol.reader({
      get startMs() {
        return startMs();
      },
      say: (event) => this.#say(event),
      answered: (stretch) => this.#answered(stretch),
      fault: (sentence, lasting) => this.#fault(sentence, lasting),
    });
    for (const message of this.#protocol.opening) this.#socket?.send(message);
    this.#send();
    if (this.#closing) this.#sayFarewell();
  }

  #send(): void {
    if (!this.#ready) {
      this.#tellDropped();
      return;
    }
    for (let item = this.#held.take(); item; item = this.#held.take()) {
      if (item.kind === "audio") {
        this.#startMs ??= item.startMs;
        for (const message of this.#protocol.audio(item.samples, item.first)) this.#socket?.send(message);
        if (this.#protocol.commit.length === 0) this.#owe();
      } else {
        for (const message of this.#protocol.commit) this.#socket?.send(message);
        this.#reader?.committed?.(item);
        this.#owe();
      }
      this.#sentAt = performance.now();
    }
  }

  #owe(): void {
    this.#owedSince ??= performance.now();
  }

  #message(text: string): void {
    const message = jsonOf(text);
    this.#heardAt = performance.now();
    if (this.#protocol.commit.length === 0) this.#owedSince = undefined;
    if (message !== null && !this.#over) this.#reader?.read(message as Readonly<Record<string, unknown>>);
  }

  #say(event: TranscriptionEvent): void {
    if (event.type !== "error") this.#tries = 0;
    this.events.say(event);
  }

  #answered(stretch: Stretch): void {
    this.#held.answered(stretch);
    if (this.#held.turns === 0) this.#owedSince = undefined;
    else if (this.#owedSince !== undefined) this.#owedSince = performance.now();
    if (this.#closing && this.#protocol.farewell.length === 0 && this.#held.turns === 0) this.#end();
  }

  #fault(sentence: string, lasting: boolean): void {
    const error = engineFault(`The transcription server ${sentence}.`, this.#protocol.secrets);
    this.events.say({ type: "error", error, recoverable: !lasting });
    if (lasting) this.#end();
  }

  #lost(why: string, lasting: boolean): void {
    if (this.#ready && performance.now() - this.#openedAt > this.#patience.answerMs) this.#tries = 0;
    this.#ready = false;
    this.#reader = undefined;
    this.#socket = undefined;
    if (this.#over) return;
    if (lasting) this.#fault(why, true);
    else if (this.#farewell)
      this.#end(); // it has said its last
    else this.#tryAgain(why);
  }

  #tryAgain(why: string): void {
    if (this.#tries === TOLD_AFTER) this.#fault(`cannot be reached: it ${why}`, false);
    const pause = Math.min(LONGEST_RETRY_MS, this.#patience.retryMs * 2 ** Math.min(10, Math.max(0, this.#tries - 1)));
    this.#held.rewind();
    this.#retry = setTimeout(() => this.#connect(), pause);
  }

  /** From time to time: keeps alive, gives up what does not answer. */
  #look(): void {
    if (!this.#ready) return;
    const now = performance.now();
    const { keepAliveMs, answerMs } = this.#patience;
    const owed = this.#owedSince;
    if (owed !== undefined && now - Math.max(owed, this.#heardAt) > answerMs) {
      this.#fault(`did not answer within ${answerMs} ms`, false);
      this.#socket?.fail("did not answer");
    } else if (this.#protocol.keepAlive !== undefined && now - this.#sentAt > keepAliveMs) {
      this.#socket?.send(this.#protocol.keepAlive);
      this.#sentAt = now;
    }
  }

  /** Once per second of it. */
  #tellDropped(): void {
    const dropped = this.#held.droppedMs - this.#toldDroppedMs;
    if (dropped < 1_000) return;
    this.#toldDroppedMs = this.#held.droppedMs;
    this.#fault(`is not connected: ${Math.round(dropped)} ms of audio were dropped`, false);
  }

  #sayFarewell(): void {
    this.#held.flush();
    this.#send();
    const { farewell } = this.#protocol;
    const nothing = farewell.length > 0 ? this.#held.empty : this.#held.turns === 0;
    if (nothing) {
      this.#end();
      return;
    }
    this.#leaving ??= setTimeout(() => this.#giveUp(), this.#patience.closeMs);
    if (!this.#ready || farewell.length === 0) return;
    this.#farewell = true;
    for (const message of farewell) this.#socket?.send(message);
  }

  #giveUp(): void {
    if (this.#over) return;
    this.#fault(`did not answer within ${this.#patience.closeMs} ms after the call`, false);
    this.#end();
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    clearInterval(this.#clock);
    clearTimeout(this.#retry);
    clearTimeout(this.#leaving);
    this.#socket?.close();
    this.events.end();
    this.#resolveOver();
  }
}
