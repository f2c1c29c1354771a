import { forgetRecording } from "./call-recording.ts";
import type { Context } from "./context.ts";

const DAY_MS = 24 * 60 * 60_000;
const EVERY_MS = 60 * 60_000;
const BATCH = 500;

/** How long things are kept after the end of their call, days; undefined: for ever. */
export interface RetentionDays {
  /** Calls, with all that belongs to them. */
  readonly calls?: number | undefined;
  /** Recordings; never longer than their calls. */
  readonly recordings?: number | undefined;
}

/** Deletes calls that ended longer ago than they are kept, with their events and recordings; recordings also before. */
export class Retention {
  readonly #context: Context;
  readonly #callsMs: number;
  readonly #recordingsMs: number;
  #cancel: (() => void) | undefined;

  constructor(context: Context, { calls = Infinity, recordings = Infinity }: RetentionDays) {
    this.#context = context;
    this.#callsMs = calls * DAY_MS;
    this.#recordingsMs = Math.min(calls, recordings) * DAY_MS;
  }

  start(): void {
    if (this.#recordingsMs < Infinity) this.#cancel = this.#context.system.after(0, () => void this.#sweep());
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  async #sweep(): Promise<void> {
    const { system, log } = this.#context;
    try {
      // First, so that no crash leaves a recording behind whose call is gone.
      await this.#sweepRecordings(system.now() - this.#recordingsMs);
      if (this.#callsMs < Infinity) await this.#sweepCalls(system.now() - this.#callsMs);
    } catch (error) {
      log.warn({ err: error }, "old calls could not be deleted; trying again later");
    }
    if (this.#cancel) this.#cancel = system.after(EVERY_MS, () => void this.#sweep());
  }

  async #sweepRecordings(endedBefore: number): Promise<void> {
    for (;;) {
      const old = await this.#context.storage.calls.recorded(endedBefore, BATCH);
      for (const call of old) await forgetRecording(this.#context, call, "retention");
      if (old.length > 0) this.#context.log.info({ recordings: old.length }, "old recordings deleted");
      if (old.length < BATCH || !this.#cancel) break;
    }
  }

  async #sweepCalls(endedBefore: number): Promise<void> {
    const { storage, telephony, log } = this.#context;
    for (;;) {
      const gone = await storage.calls.purge(endedBefore, BATCH);
      for (const network of telephony.values()) await network.forget?.(gone);
      if (gone.length > 0) log.info({ calls: gone.length }, "old calls deleted");
      if (gone.length < BATCH || !this.#cancel) break;
    }
  }
}
