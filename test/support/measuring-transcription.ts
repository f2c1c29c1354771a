import { Queue } from "../../src/base/queue.ts";
import type {
  Transcription,
  TranscriptionCapabilities,
  TranscriptionEvent,
  TranscriptionOptions,
  TranscriptionSession,
} from "../../src/ports/transcription.ts";
import { understandTones } from "./understand-tones.ts";

/** An engine that recognizes tones: the text of a turn names its strongest tone, and is empty if it has none. */
export class MeasuringTranscription implements Transcription {
  readonly name = "measuring";
  readonly capabilities: TranscriptionCapabilities;
  readonly sessions: MeasuringSession[] = [];
  /** Thrown by `open`. */
  fault: Error | undefined;
  /** Sessions open after `opening`, and turns get results after `answering` has resolved. */
  opening: Promise<unknown> | undefined;
  answering: Promise<unknown> | undefined;
  isClosed = false;
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
    if (signal.aborted || this.isClosed) session.events.close();
    return session;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const { events } of this.sessions) events.close();
  }
}

/** The audio of one speaker, as pushed. */
export class MeasuringSession implements TranscriptionSession {
  readonly options: TranscriptionOptions;
  readonly events = new Queue<TranscriptionEvent>();
  /** Time and number of samples of each push. */
  readonly pushes: { atMs: number; samples: number }[] = [];
  /** Start and duration of each turn, ms. */
  readonly turns: { startMs: number; ms: number }[] = [];
  /** Thrown by the next push. */
  fault: Error | undefined;
  readonly #engine: MeasuringTranscription;
  #turnSamples: number[] = [];
  #startMs = 0;
  #results: Promise<unknown> = Promise.resolve();

  constructor(engine: MeasuringTranscription, options: TranscriptionOptions) {
    this.#engine = engine;
    this.options = options;
  }

  emit(event: TranscriptionEvent): void {
    this.events.push(event);
  }

  push(samples: Int16Array, atMs: number): void {
    if (this.fault) throw this.fault;
    this.pushes.push({ atMs, samples: samples.length });
    if (this.#turnSamples.length === 0) this.#startMs = atMs;
    this.#turnSamples.push(...samples);
  }

  commit(): void {
    const samples = Int16Array.from(this.#turnSamples);
    const ms = (samples.length * 1000) / this.options.sampleRate;
    const startMs = this.#startMs;
    this.#turnSamples = [];
    this.turns.push({ startMs, ms });
    this.#results = this.#results
      .then(() => this.#engine.answering)
      .then(() =>
        this.emit({
          type: "final",
          text: this.#engine.understand(samples, this.options.sampleRate),
          startMs,
          endMs: startMs + ms,
        }),
      );
  }

  async close(): Promise<void> {
    await this.#results;
    this.events.close();
  }
}
