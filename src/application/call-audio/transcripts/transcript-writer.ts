import type { TranscriptLine } from "../../../domain/transcript.ts";
import type { Context } from "../../context.ts";

/** Lines of one call that may wait for a storage that is down. */
const MOST_WAITING = 1_000;
const AGAIN_AFTER_MS = 5_000;
/** After the call it is tried so often. */
const LAST_TRIES = 3;

/**
 * Stores the lines of one call's transcript, in order and one write at a time. A storage that cannot take them now is
 * tried again, with the next line or a little later; the call does not wait for it.
 */
export class TranscriptWriter {
  readonly #context: Context;
  readonly #callId: string;
  readonly #waiting: TranscriptLine[] = [];
  #position = 0;
  #writing: Promise<void> = Promise.resolve();

  constructor(context: Context, callId: string) {
    this.#context = context;
    this.#callId = callId;
  }

  keep(line: Omit<TranscriptLine, "callId" | "position">): void {
    this.#waiting.push({ callId: this.#callId, position: this.#position++, ...line });
    if (this.#waiting.length > MOST_WAITING) this.#waiting.shift();
    this.#writing = this.#writing.then(() => this.#write());
  }

  /** Nothing more comes; resolves when all is stored, or cannot be. Never rejects. */
  async finish(): Promise<void> {
    await this.#writing;
    const { system, log, shutdownSignal } = this.#context;
    for (let tries = 0; this.#waiting.length > 0 && tries < LAST_TRIES && !shutdownSignal.aborted; tries++) {
      await new Promise<void>((resolve) => void system.after(AGAIN_AFTER_MS, resolve));
      await this.#write();
    }
    if (this.#waiting.length > 0)
      log.error({ call_id: this.#callId, lines: this.#waiting.length }, "a part of the transcript could not be stored");
  }

  async #write(): Promise<void> {
    const { storage, log } = this.#context;
    const lines = [...this.#waiting];
    if (lines.length === 0) return;
    try {
      await storage.transcripts.append(lines);
      const stored = lines.at(-1)?.position ?? -1;
      while ((this.#waiting[0]?.position ?? Infinity) <= stored) this.#waiting.shift();
    } catch (error) {
      log.warn({ call_id: this.#callId, err: error }, "the storage cannot take the transcript now");
    }
  }
}
