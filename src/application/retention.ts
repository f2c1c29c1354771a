import { forgetRecording } from "./call-recording.ts";
import { removeCalls } from "./call-removal.ts";
import type { Context } from "./context.ts";
import { RECEIPT_KEPT_MS } from "./idempotency.ts";

const DAY_MS = 24 * 60 * 60_000;
const EVERY_MS = 60 * 60_000;
const BATCH = 500;

/** How long things are kept after the end of their call, days; undefined: for ever. */
export interface RetentionDays {
  /** Calls, with all that belongs to them, and instances after their deletion. */
  readonly calls?: number | undefined;
  /** Recordings; never longer than their calls. */
  readonly recordings?: number | undefined;
}

/**
 * Deletes what is kept long enough: calls with their events and recordings, recordings before them, deleted instances,
 * and in any case results of idempotent requests. It goes by the purge clock, every hour.
 */
export class Retention {
  readonly #context: Context;
  readonly #callsMs: number;
  readonly #recordingsMs: number;
  #cancel: (() => void) | undefined;
  #sweeping: Promise<void> = Promise.resolve();
  /** Something was deleted, and may still be in the files of the database. */
  #unscrubbed = false;

  constructor(context: Context, { calls = Infinity, recordings = Infinity }: RetentionDays) {
    this.#context = context;
    this.#callsMs = calls * DAY_MS;
    this.#recordingsMs = Math.min(calls, recordings) * DAY_MS;
  }

  start(): void {
    this.#sweepIn(0);
  }

  /** Resolves when the sweep that runs has come to its next stop. */
  async stop(): Promise<void> {
    this.#cancel?.();
    this.#cancel = undefined;
    await this.#sweeping;
  }

  #sweepIn(ms: number): void {
    this.#cancel = this.#context.system.after(ms, () => {
      this.#sweeping = this.#sweep();
    });
  }

  async #sweep(): Promise<void> {
    const { purgeClock, storage, log } = this.#context;
    try {
      const now = purgeClock.now();
      if (this.#recordingsMs < Infinity) await this.#sweepRecordings(now - this.#recordingsMs);
      if (this.#callsMs < Infinity) {
        await this.#sweepCalls(now - this.#callsMs);
        await this.#sweepInstances(now - this.#callsMs);
      }
      if (this.#cancel && (await storage.receipts.forget(now - RECEIPT_KEPT_MS)) > 0) this.#unscrubbed = true;
      if (this.#cancel && this.#unscrubbed) {
        await storage.retention.scrub({ thorough: false });
        this.#unscrubbed = false;
      }
      if (this.#cancel) await purgeClock.save();
    } catch (error) {
      log.warn({ err: error }, "what is kept long enough could not be deleted; trying again later");
    }
    if (this.#cancel) this.#sweepIn(EVERY_MS);
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
    const { storage, log } = this.#context;
    for (;;) {
      const old = await storage.calls.ended(endedBefore, BATCH);
      if (old.length > 0) {
        await removeCalls(this.#context, old);
        this.#unscrubbed = true;
        log.info({ calls: old.length }, "old calls deleted");
      }
      if (old.length < BATCH || !this.#cancel) break;
    }
  }

  async #sweepInstances(deletedBefore: number): Promise<void> {
    for (;;) {
      const old = await this.#context.storage.instances.purge(deletedBefore, BATCH);
      if (old.length > 0) this.#unscrubbed = true;
      if (old.length < BATCH || !this.#cancel) break;
    }
  }
}
