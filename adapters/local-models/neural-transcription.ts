import { Queue } from "../../src/base/queue.ts";
import {
  type Transcription,
  type TranscriptionEvent,
  TranscriptionFailed,
  type TranscriptionSession,
} from "../../src/ports/transcription.ts";
import { type TimeSpan, UnprocessedAudio } from "../transcription/unprocessed-audio.ts";
import { LocalTranscriptionFailed } from "./fixable-fault.ts";
import type { HeardText, RecogniserInput } from "./messages.ts";
import type { OpenedStream, SpeechProcesses } from "./speech-processes.ts";
import { usableRecogniser } from "./usable-recogniser.ts";

/** Options of {@link neuralTranscription}. */
export interface NeuralTranscriptionOptions {
  /** The model folder. */
  readonly folder: string;
  /** Subfolder of the recogniser. Default: the only one. */
  readonly model?: string | undefined;
  /** Language of the speech, for models that recognise several. */
  readonly language?: string | undefined;
  /** Time to wait for the last texts at the end of a call, ms. Default: 5,000. */
  readonly closeMs?: number | undefined;
}

/** Length of the audio kept for a slow process, and for its successor, ms. */
const KEEP_MS = 15_000;
/** Maximum number of audio messages on their way to a process: about 2 s. */
const MAX_IN_FLIGHT = 25;
/** Maximum number of consecutive processes that a session may lose without receiving text. */
const MAX_LOSSES = 3;
/** Length of dropped audio that causes a report, ms. */
const DROP_REPORT_MS = 1_000;

/**
 * Transcription by a recogniser from the model folder, in speech processes. Closing it ends its sessions but leaves the
 * processes running.
 */
export function neuralTranscription(
  processes: SpeechProcesses,
  { folder, model, language, closeMs = 5_000 }: NeuralTranscriptionOptions,
): Transcription {
  const scope = new AbortController();
  return {
    name: "local",
    capabilities: { sampleRates: [16_000, 8_000], endOfTurn: false, partial: true },
    async check() {
      await usableRecogniser(processes, folder, model);
    },
    async open({ sampleRate }, signal) {
      const files = await usableRecogniser(processes, folder, model);
      const sessionSignal = AbortSignal.any([signal, scope.signal]);
      return new NeuralSession(processes, { model: files, sampleRate, language }, closeMs, sessionSignal);
    },
    close: async () => scope.abort(),
  };
}

/** Transcribes one speaker in a speech process. If the process dies, another one transcribes what was not finished. */
class NeuralSession implements TranscriptionSession {
  readonly events = new Queue<TranscriptionEvent>();
  readonly #processes: SpeechProcesses;
  readonly #input: RecogniserInput;
  readonly #closeMs: number;
  readonly #audio: UnprocessedAudio;
  #stream: OpenedStream | undefined;
  /** Turns that have been sent but have no text yet, and the one that is being sent. */
  readonly #turns: TimeSpan[] = [];
  #turnStartMs: number | undefined;
  #inFlight = 0;
  #lossCount = 0;
  #reportedDropsMs = 0;
  #hasEnded = false;
  #closePromise: Promise<void> | undefined;
  #closeTimer: ReturnType<typeof setTimeout> | undefined;
  #resolveClosing: () => void = () => {};

  constructor(processes: SpeechProcesses, input: RecogniserInput, closeMs: number, signal: AbortSignal) {
    this.#processes = processes;
    this.#input = input;
    this.#closeMs = closeMs;
    this.#audio = new UnprocessedAudio(input.sampleRate, KEEP_MS);
    signal.addEventListener("abort", () => this.#end(), { once: true });
    if (signal.aborted) this.#end();
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
      this.#resolveClosing = resolve;
      if (this.#hasEnded) resolve();
      else this.#finish();
    });
    return this.#closePromise;
  }

  #finish(): void {
    this.#audio.commit();
    this.#send();
    if (this.#audio.turns === 0) this.#end();
    else this.#closeTimer = setTimeout(() => this.#giveUp(), this.#closeMs);
  }

  #giveUp(): void {
    this.#report(`the speech process did not finish within ${this.#closeMs} ms after the call`);
    this.#end();
  }

  #send(): void {
    while (!this.#hasEnded && this.#inFlight < MAX_IN_FLIGHT) {
      const item = this.#audio.take();
      if (item === undefined) break;
      this.#stream ??= this.#open();
      if (item.kind === "audio") {
        this.#turnStartMs ??= item.startMs;
        this.#inFlight++;
        this.#stream.push(item.samples);
      } else {
        this.#turns.push(item);
        this.#turnStartMs = undefined;
        this.#stream.commit();
      }
    }
    this.#reportDrops();
  }

  #open(): OpenedStream {
    return this.#processes.open(this.#input, {
      onTaken: (count) => {
        this.#inFlight -= count;
        this.#send();
      },
      onPartial: (heard) => this.#partial(heard),
      onFinal: (heard) => this.#reportFinal(heard),
      onLost: () => this.#isLost(),
      onFailed: (reason, fix) => this.#fail(reason, fix),
    });
  }

  #partial({ text, startS }: HeardText): void {
    const turnStartMs = this.#turns[0]?.startMs ?? this.#turnStartMs;
    if (this.#hasEnded || text === "" || turnStartMs === undefined) return;
    this.events.push({ type: "partial", text, startMs: atMs(turnStartMs, startS) });
  }

  #reportFinal({ text, startS, endS }: HeardText): void {
    const turn = this.#turns.shift();
    if (this.#hasEnded || turn === undefined) return;
    this.#lossCount = 0;
    this.#audio.markProcessed(turn);
    if (text !== "") {
      const startMs = atMs(turn.startMs, startS);
      const endMs = endS === undefined ? turn.endMs : Math.max(startMs, Math.min(turn.endMs, atMs(turn.startMs, endS)));
      this.events.push({ type: "final", text, startMs, endMs });
    }
    if (this.#closePromise && this.#audio.turns === 0) this.#end();
  }

  /** Hands all audio without a final text to another process. @returns false if too many processes have been lost */
  #isLost(): boolean {
    this.#stream = undefined;
    this.#turns.length = 0;
    this.#turnStartMs = undefined;
    this.#inFlight = 0;
    if (this.#hasEnded) return false;
    this.#lossCount++;
    if (this.#lossCount > MAX_LOSSES) {
      this.#fail(`${MAX_LOSSES + 1} speech processes in a row ended before they had a text`);
      return false;
    }
    this.#audio.rewind();
    this.#send();
    return true;
  }

  #fail(reason: string, fix?: string): void {
    if (this.#hasEnded) return;
    this.events.push({ type: "error", error: new LocalTranscriptionFailed(reason, fix), recoverable: false });
    this.#end();
  }

  #reportDrops(): void {
    const droppedMs = this.#audio.droppedMs - this.#reportedDropsMs;
    if (droppedMs < DROP_REPORT_MS) return;
    this.#reportedDropsMs = this.#audio.droppedMs;
    this.#report(`the recogniser is too slow: ${Math.round(droppedMs)} ms of audio were dropped`);
  }

  #report(message: string): void {
    this.events.push({ type: "error", error: new TranscriptionFailed(message), recoverable: true });
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearTimeout(this.#closeTimer);
    this.#stream?.close();
    this.events.close();
    this.#resolveClosing();
  }
}

/** Audio time of a moment in a turn, ms. */
function atMs(turnStartMs: number, s: number | undefined): number {
  return Math.round(turnStartMs + (s ?? 0) * 1_000);
}
