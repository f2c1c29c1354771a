import type {
  Transcription,
  TranscriptionEvent,
  TranscriptionOptions,
  TranscriptionSession,
} from "../../../ports/transcription.ts";

/** Maximum number of frames that wait for a session to be opened: 10 s. */
const MAX_PENDING_INPUTS = 500;

/** An input of a session: samples and their audio time, or a commit. */
type SessionInput = { readonly samples: Int16Array; readonly atMs: number } | "commit";

/**
 * The audio of one speaker on its way to a session of an engine. While the session is being opened, the newest 10 s
 * wait. An error of the engine becomes an event; it never reaches the leg.
 */
export class SessionAudio {
  readonly #engine: Transcription;
  readonly #options: TranscriptionOptions;
  readonly #onEvent: (event: TranscriptionEvent) => void;
  readonly #scope = new AbortController();
  readonly #pendingInputs: SessionInput[] = [];
  #session: TranscriptionSession | undefined;
  /** Resolves when the session has ended. */
  #runPromise: Promise<void> | undefined;
  #isFinished = false;

  constructor(engine: Transcription, options: TranscriptionOptions, onEvent: (event: TranscriptionEvent) => void) {
    this.#engine = engine;
    this.#options = options;
    this.#onEvent = onEvent;
  }

  /** Opens the session; until it is open, inputs wait. */
  open(): void {
    if (!this.#isFinished) this.#runPromise ??= this.#run();
  }

  /** Sends a copy of the samples. */
  push(samples: Int16Array, atMs: number): void {
    if (this.#isFinished) return;
    if (this.#session === undefined) this.#enqueue({ samples: samples.slice(), atMs });
    else this.#send(this.#session, { samples, atMs });
  }

  commit(): void {
    if (this.#isFinished) return;
    if (this.#session === undefined) this.#enqueue("commit");
    else this.#send(this.#session, "commit");
  }

  /** Ends the audio; resolves when the engine has finished. Idempotent. */
  async finish(): Promise<void> {
    this.#isFinished = true;
    await this.#session?.close().catch((error: unknown) => this.#fail(error));
    await this.#runPromise;
  }

  #send(session: TranscriptionSession, item: SessionInput): void {
    try {
      if (item === "commit") session.commit();
      else session.push(item.samples, item.atMs);
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#isFinished = true;
    this.#scope.abort();
    this.#onEvent({
      type: "error",
      error: error instanceof Error ? error : new Error(String(error)),
      recoverable: false,
    });
  }

  #enqueue(item: SessionInput): void {
    this.#pendingInputs.push(item);
    if (this.#pendingInputs.length > MAX_PENDING_INPUTS) this.#pendingInputs.shift();
  }

  async #run(): Promise<void> {
    try {
      const session = await this.#engine.open(this.#options, this.#scope.signal);
      for (const item of this.#pendingInputs.splice(0)) this.#send(session, item);
      this.#session = session;
      if (this.#isFinished) void session.close().catch((error: unknown) => this.#fail(error));
      for await (const event of session.events) {
        this.#onEvent(event);
        if (event.type === "error" && !event.recoverable) break;
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#isFinished = true;
      this.#scope.abort();
      this.#session = undefined;
    }
  }
}
