import { Queue } from "../../src/base/queue.ts";
import type {
  Transcription,
  TranscriptionCapabilities,
  TranscriptionEvent,
  TranscriptionOptions,
  TranscriptionSession,
} from "../../src/ports/transcription.ts";
import { understandTones } from "./understand-tones.ts";

/** An engine that recognizes tones: the text of a turn names the strongest one, and is empty without one. */
export class MeasuringTranscription implements Transcription {
  readonly name = "measuring";
  readonly capabilities: TranscriptionCapabilities;
  readonly sessions: MeasuringSession[] = [];
  /** Thrown by `open`. */
  fault: Error | undefined;
  /** Sessions open and turns get results only after this has resolved. */
  opening: Promise<unknown> | undefined;
  answering: Promise<unknown> | undefined;
  closed = false;
  /** The text of a turn. */
  understand: typeof understandTones = understandTones;

  constructor(capabilities: Partial<TranscriptionCapabilities> = {}) {
    this.capabilities = { sampleRates: [16_000, 8_000], endOfTurn: false, partial: false, ...capabilities };
  }

  async open(options: TranscriptionOptions, signal: AbortSignal): Promise<MeasuringSession> {
    await this.opening;
    if (this.fault) throw this.fault;
    const session = new MeasuringSession(this, options);
    this.sessions.push(session);
    signal.addEventListener("abort", () => session.events.close());
    if (signal.aborted || this.closed) session.events.close();
    return session;
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const { events } of this.sessions) events.close();
  }
}

/** The audio of one speaker, as pushed. */
export class MeasuringSession implements TranscriptionSession {
  readonly options: TranscriptionOptions;
  readonly events = new Queue<TranscriptionEvent>();
  /** Time and number of samples of each push. */
  readonly pushed: { atMs: number; samples: number }[] = [];
  /** Start and duration of each turn, ms. */
  readonly turns: { startMs: number; ms: number }[] = [];
  /** Thrown by the next push. */
  fault: Error | undefined;
  readonly #engine: MeasuringTranscription;
  #turnLengths: number[] = [];
  #startMs = 0;
  #answered: Promise<unknown> = Promise.resolve();

  constructor(engine: MeasuringTranscription, options: TranscriptionOptions) {
    this.#engine = engine;
    this.options = options;
  }

  say(event: TranscriptionEvent): void {
    this.events.push(event);
  }

  push(samples: Int16Array, atMs: number): void {
    if (this.fault) throw this.fault;
    this.pushed.push({ atMs, samples: samples.length });
    if (this.#turnLengths.length === 0) this.#startMs = atMs;
    this.#turnLengths.push(...samples);
  }

  commit(): void {
    const samples = Int16Array.from(this.#turnLengths);
    const ms = (samples.length * 1000) / this.options.sampleRate;
    const startMs = this.#startMs;
    this.#turnLengths = [];
    this.turns.push({ startMs, ms });
    this.#answered = this.#answered
      .then(() => this.#engine.answering)
      .then(() =>
        this.say({
          type: "final",
          text: this.#engine.understand(samples, this.options.sampleRate),
          startMs,
          endMs: startMs + ms,
        }),
      );
  }

  async close(): Promise<void> {
    await this.#answered;
    this.events.close();
  }
}
