import type {
  Transcription,
  TranscriptionEvent,
  TranscriptionOptions,
  TranscriptionSession,
} from "../../../ports/transcription.ts";

/** Frames that wait for a session to be opened: 10 s. */
const MOST_WAITING = 500;

/** What waits for a session: samples and when they were heard, or a commit. */
type Waiting = { readonly samples: Int16Array; readonly atMs: number } | "commit";

/**
 * What one speaker says, on its way into a session of an engine. What comes while that is being opened waits for it, the
 * newest 10 s. What an engine throws becomes one of its events; nothing of it reaches the leg.
 */
export class SessionAudio {
  readonly #engine: Transcription;
  readonly #options: TranscriptionOptions;
  readonly #told: (event: TranscriptionEvent) => void;
  readonly #scope = new AbortController();
  readonly #waiting: Waiting[] = [];
  #session: TranscriptionSession | undefined;
  /** Resolves when the engine says nothing more. */
  #listening: Promise<void> | undefined;
  #finished = false;

  constructor(engine: Transcription, options: TranscriptionOptions, told: (event: TranscriptionEvent) => void) {
    this.#engine = engine;
    this.#options = options;
    this.#told = told;
  }

  /** The engine is asked to listen; until it does, what comes waits. */
  open(): void {
    if (!this.#finished) this.#listening ??= this.#listen();
  }

  /** The array is not kept. */
  push(samples: Int16Array, atMs: number): void {
    if (this.#finished) return;
    if (this.#session === undefined) this.#wait({ samples: samples.slice(), atMs });
    else this.#give(this.#session, { samples, atMs });
  }

  commit(): void {
    if (this.#finished) return;
    if (this.#session === undefined) this.#wait("commit");
    else this.#give(this.#session, "commit");
  }

  /** Nothing more is pushed; resolves when the engine has said its last. Twice is fine. */
  async finish(): Promise<void> {
    this.#finished = true;
    await this.#session?.close().catch((error: unknown) => this.#fail(error));
    await this.#listening;
  }

  #give(session: TranscriptionSession, item: Waiting): void {
    try {
      if (item === "commit") session.commit();
      else session.push(item.samples, item.atMs);
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#finished = true;
    this.#scope.abort();
    this.#told({ type: "error", error: error instanceof Error ? error : new Error(String(error)), recoverable: false });
  }

  #wait(item: Waiting): void {
    this.#waiting.push(item);
    if (this.#waiting.length > MOST_WAITING) this.#waiting.shift();
  }

  async #listen(): Promise<void> {
    try {
      const session = await this.#engine.open(this.#options, this.#scope.signal);
      for (const item of this.#waiting.splice(0)) this.#give(session, item);
      this.#session = session;
      if (this.#finished) void session.close().catch((error: unknown) => this.#fail(error));
      for await (const event of session.events) {
        this.#told(event);
        if (event.type === "error" && !event.recoverable) break;
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#finished = true;
      this.#scope.abort();
      this.#session = undefined;
    }
  }
}
