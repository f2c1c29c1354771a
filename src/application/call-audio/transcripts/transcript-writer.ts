import { pause } from "../../../base/timers.ts";
import type { TranscriptLine } from "../../../domain/calls/transcript.ts";
import type { Context } from "../../context.ts";

/** Dependencies of {@link TranscriptWriter}. */
export type TranscriptWriterContext = Pick<Context, "log" | "shutdownSignal" | "storage" | "system">;

/** Maximum number of lines of one call that wait for the storage. */
const MAX_PENDING_LINES = 1_000;
/** Pause between write attempts after the call, ms. */
const RETRY_MS = 5_000;
/** Number of write attempts after the call has ended. */
const LAST_ATTEMPTS = 3;

/**
 * Stores the transcript of one call, in order and one write at a time. A failed write is repeated with the next line,
 * or after the call; the call does not wait for it.
 */
export class TranscriptWriter {
  readonly #context: TranscriptWriterContext;
  readonly #callId: string;
  readonly #pendingLines: TranscriptLine[] = [];
  #position = 0;
  #writePromise: Promise<void> = Promise.resolve();

  constructor(context: TranscriptWriterContext, callId: string) {
    this.#context = context;
    this.#callId = callId;
  }

  add(line: Omit<TranscriptLine, "callId" | "position">): void {
    this.#pendingLines.push({ callId: this.#callId, position: this.#position++, ...line });
    if (this.#pendingLines.length > MAX_PENDING_LINES) this.#pendingLines.shift();
    this.#writePromise = this.#writePromise.then(() => this.#write());
  }

  /** Completes the transcript; resolves when it is stored, or cannot be stored. Never rejects. */
  async finish(): Promise<void> {
    await this.#writePromise;
    const { system, log, shutdownSignal } = this.#context;
    for (
      let attempts = 0;
      this.#pendingLines.length > 0 && attempts < LAST_ATTEMPTS && !shutdownSignal.aborted;
      attempts++
    ) {
      await pause(system, RETRY_MS, shutdownSignal);
      await this.#write();
    }
    if (this.#pendingLines.length > 0)
      log.error(
        { call_id: this.#callId, lines: this.#pendingLines.length },
        "a part of the transcript could not be stored",
      );
  }

  async #write(): Promise<void> {
    const { storage, log } = this.#context;
    const lines = [...this.#pendingLines];
    if (lines.length === 0) return;
    try {
      await storage.transcripts.append(lines);
      const lastPosition = lines.at(-1)?.position ?? -1;
      while ((this.#pendingLines[0]?.position ?? Infinity) <= lastPosition) this.#pendingLines.shift();
    } catch (error) {
      log.warn({ call_id: this.#callId, err: error }, "the transcript could not be stored yet");
    }
  }
}
