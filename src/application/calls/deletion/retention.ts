import { CALL_WINDOW_MS } from "../../../domain/calls/call-limits.ts";
import { StorageUnavailable } from "../../../ports/storage.ts";
import { forgetRecording } from "../../call-audio/call-recording.ts";
import type { Context } from "../../context.ts";
import { RECEIPT_KEPT_MS } from "../../idempotency/idempotency.ts";
import { removeCalls } from "./remove-calls.ts";

type RetentionContext = Pick<
  Context,
  "events" | "log" | "purgeClock" | "recordings" | "storage" | "system" | "telephony" | "timings"
>;

const DAY_MS = 24 * 60 * 60_000;
const SWEEP_INTERVAL_MS = 60 * 60_000;
const BATCH_SIZE = 500;

/** Retention after the end of a call, days; undefined for unlimited. */
export interface RetentionDays {
  /** Number of days for which calls are kept with all of their records, and instances after their deletion. */
  readonly calls?: number | undefined;
  /** Number of days for which recordings are kept; never longer than their calls. */
  readonly recordings?: number | undefined;
}

/**
 * Deletes expired data: calls with their events and recordings, recordings that expire before their calls, ended
 * batches, and deleted instances. Stored audio files, results of idempotent requests and counters of deleted calls
 * always expire. Runs every hour, by the purge clock.
 */
export class Retention {
  readonly #context: RetentionContext;
  readonly #callsMs: number;
  readonly #recordingsMs: number;
  #cancel: (() => void) | undefined;
  #sweepPromise: Promise<void> = Promise.resolve();
  /** True if deleted records may still be in the database files. */
  #needsScrub = false;

  constructor(context: RetentionContext, { calls = Infinity, recordings = Infinity }: RetentionDays) {
    this.#context = context;
    this.#callsMs = calls * DAY_MS;
    this.#recordingsMs = Math.min(calls, recordings) * DAY_MS;
  }

  start(): void {
    this.#sweepIn(0);
  }

  /** Stops after the current batch of the running sweep, if there is one. */
  async stop(): Promise<void> {
    this.#cancel?.();
    this.#cancel = undefined;
    await this.#sweepPromise;
  }

  #sweepIn(ms: number): void {
    this.#cancel = this.#context.system.after(ms, () => {
      this.#sweepPromise = this.#sweep();
    });
  }

  async #sweep(): Promise<void> {
    const { purgeClock, storage } = this.#context;
    const now = purgeClock.now();
    await this.#runStage("results of requests", async () => {
      if ((await storage.receipts.forget(purgeClock.ago(RECEIPT_KEPT_MS))) > 0) this.#needsScrub = true;
    });
    await this.#runStage("counted calls", async () => {
      if ((await storage.calls.forgetCounted(purgeClock.ago(CALL_WINDOW_MS))) > 0) this.#needsScrub = true;
    });
    await this.#runStage("audio files", async () => {
      if ((await storage.audio.purge(now)) > 0) this.#needsScrub = true;
    });
    if (this.#recordingsMs < Infinity)
      await this.#runStage("recordings", () => this.#sweepRecordings(now - this.#recordingsMs));
    if (this.#callsMs < Infinity) {
      await this.#runStage("calls", () => this.#sweepCalls(now - this.#callsMs));
      await this.#runStage("batches", () => this.#sweepBatches(now - this.#callsMs));
      await this.#runStage("instances", () => this.#sweepInstances(now - this.#callsMs));
    }
    await this.#runStage("traces", async () => {
      if (this.#needsScrub) await storage.retention.scrub({ thorough: false });
      this.#needsScrub = false;
    });
    await this.#runStage("the time of the purge", () => purgeClock.save());
    if (this.#cancel) this.#sweepIn(SWEEP_INTERVAL_MS);
  }

  /** Runs one part of a sweep; if it fails, the others continue. */
  async #runStage(records: string, work: () => Promise<void>): Promise<void> {
    if (!this.#cancel) return;
    try {
      await work();
    } catch (error) {
      this.#context.log.warn(
        { err: error },
        `expired records could not all be deleted (${records}); retrying in an hour`,
      );
    }
  }

  async #sweepRecordings(endedBefore: number): Promise<void> {
    for (;;) {
      const batch = await this.#context.storage.calls.recorded(endedBefore, BATCH_SIZE);
      let deletedCount = 0;
      for (const call of batch)
        deletedCount += await this.#tryDelete(call.id, () => forgetRecording(this.#context, call, "retention"));
      if (deletedCount > 0) this.#context.log.info({ recordings: deletedCount }, "old recordings deleted");
      if (batch.length < BATCH_SIZE || deletedCount === 0 || !this.#cancel) break;
    }
  }

  async #sweepCalls(endedBefore: number): Promise<void> {
    for (;;) {
      const batch = await this.#context.storage.calls.ended(endedBefore, BATCH_SIZE);
      const deletedCount = await this.#removeCalls(batch);
      if (deletedCount > 0) {
        this.#needsScrub = true;
        this.#context.log.info({ calls: deletedCount }, "old calls deleted");
      }
      if (batch.length < BATCH_SIZE || deletedCount === 0 || !this.#cancel) break;
    }
  }

  /** Deletes these calls together or, if that fails, individually; returns the number deleted. */
  async #removeCalls(ids: readonly string[]): Promise<number> {
    try {
      if (ids.length > 0) await removeCalls(this.#context, ids);
      return ids.length;
    } catch (error) {
      if (error instanceof StorageUnavailable) throw error;
    }
    let deletedCount = 0;
    for (const id of ids) deletedCount += await this.#tryDelete(id, () => removeCalls(this.#context, [id]));
    return deletedCount;
  }

  /** Deletes one call; returns 1, or 0 if its records cannot be deleted, which must not block other calls. */
  async #tryDelete(callId: string, work: () => Promise<unknown>): Promise<0 | 1> {
    try {
      await work();
      return 1;
    } catch (error) {
      if (error instanceof StorageUnavailable) throw error;
      this.#context.log.warn({ call_id: callId, err: error }, "an expired call cannot be deleted; retrying in an hour");
      return 0;
    }
  }

  async #sweepBatches(endedBefore: number): Promise<void> {
    const { batches } = this.#context.storage;
    for (;;) {
      const ids = await batches.ended(endedBefore, BATCH_SIZE);
      for (const id of ids) if (await batches.delete(id)) this.#needsScrub = true;
      if (ids.length < BATCH_SIZE || !this.#cancel) break;
    }
  }

  async #sweepInstances(erasedBefore: number): Promise<void> {
    for (;;) {
      const batch = await this.#context.storage.instances.purge(erasedBefore, BATCH_SIZE);
      if (batch.length > 0) this.#needsScrub = true;
      if (batch.length < BATCH_SIZE || !this.#cancel) break;
    }
  }
}
