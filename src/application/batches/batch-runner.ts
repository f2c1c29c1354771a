import type { Batch, BatchTarget } from "../../domain/batches/batch.ts";
import { nextTargetTime, type TargetHours } from "../../domain/batches/target-time.ts";
import { BATCH_LIMITS, type BatchLimit } from "../../domain/batches/target-wait.ts";
import type { Call } from "../../domain/calls/call.ts";
import { type Event, isFinalEvent } from "../../domain/events.ts";
import { Refusal } from "../../domain/refusal.ts";
import { LeaseLost, StorageUnavailable } from "../../ports/storage.ts";
import type { CallCreation } from "../calls/creation/call-creation.ts";
import type { Context } from "../context.ts";
import type { Lines } from "../instances/lines.ts";
import { batchPrincipal } from "./batch-records.ts";
import { FollowedCalls } from "./followed-calls.ts";
import { FreeInstances } from "./free-instances.ts";
import { OpenBatch } from "./open-batch.ts";
import { callBody } from "./target-checks.ts";
import { TargetEnds } from "./target-ends.ts";
import { gapEnd, hoursOfBatch } from "./target-waits.ts";

/** Dependencies of the batch runner. */
export type BatchRunnerContext = Pick<
  Context,
  "events" | "lease" | "log" | "policy" | "shutdownSignal" | "storage" | "system" | "telephony"
>;

/** Number of due targets read at a time. */
const DUE_TARGETS = 50;
/** Maximum number of calls stored concurrently: they share commits, and connections remain for other writers. */
const MAX_PLACEMENTS = 4;
/** Delay before a batch is checked again after a fault, ms. */
const RETRY_MS = 1_000;
/** Delay before a batch that has reached a limit is checked again, ms. */
const LIMIT_WAIT_MS = 60_000;

/**
 * Places the calls of open batches: each as soon as a target is due and one of the batch's instances has a free line.
 * Batches take turns. A target and its call are stored together, and a target ends in one write, so a crash at any
 * moment neither repeats a call nor skips a target; `start` finishes what a crash left unfinished.
 */
export class BatchRunner {
  readonly #context: BatchRunnerContext;
  readonly #creation: Pick<CallCreation, "createForBatch">;
  readonly #lines: Pick<Lines, "find">;
  readonly #instances: FreeInstances;
  readonly #targetEnds: TargetEnds;
  readonly #openBatches = new Map<string, OpenBatch>();
  readonly #calls: FollowedCalls;
  readonly #placements = new Set<Promise<void>>();
  #placePromise: Promise<void> | undefined;
  #mustPlaceAgain = false;
  #hasStarted = false;
  #isStopping = false;
  #unlisten = () => {};

  /** @param endCall ends an active call as `terminated` */
  constructor(
    context: BatchRunnerContext,
    creation: Pick<CallCreation, "createForBatch">,
    lines: Lines,
    endCall: (call: Call) => Promise<void>,
  ) {
    this.#context = context;
    this.#creation = creation;
    this.#lines = lines;
    this.#instances = new FreeInstances(context, lines);
    this.#targetEnds = new TargetEnds(context);
    this.#calls = new FollowedCalls(context, this.#instances, this.#targetEnds, endCall, (run) => {
      this.#closeIfDone(run);
      this.wake();
    });
  }

  /** Continues the open batches. The calls of a crashed process must be settled first. */
  async start(): Promise<void> {
    const { storage, events } = this.#context;
    this.#unlisten = events.subscribeToAll({ onEvent: (event) => this.#onEvent(event), onClose: () => {} });
    for (const batch of await storage.batches.open()) await this.#continue(batch);
    this.#hasStarted = true;
    this.wake();
  }

  /** Stops placing calls; resolves once the calls that are being placed are stored. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#placePromise;
    await Promise.all(this.#placements);
    for (const run of this.#openBatches.values()) run.cancelAlarm();
  }

  /** Resolves when the targets of all ended calls are settled; to be awaited after the last call. */
  async whenIdle(): Promise<void> {
    this.#unlisten();
    await this.#calls.whenSettled();
  }

  /** Adopts a batch that a request has changed. */
  adopt(batch: Batch): void {
    const run = this.#runOf(batch);
    if (!run.adopt(batch)) return;
    this.#closeIfDone(run);
    this.wake();
  }

  /** Reads a batch again soon: a request may have changed it, even if the storage has not confirmed that. */
  recheck(batch: Batch): void {
    const run = this.#runOf(batch);
    run.mustReconcile = true;
    run.backOff(RETRY_MS);
  }

  /** The limit that a batch is waiting for. */
  limitOf(batchId: string): BatchLimit | undefined {
    return this.#openBatches.get(batchId)?.limit;
  }

  /** Ends the active calls of a batch as `terminated`. */
  endCalls(batchId: string): Promise<void> {
    return this.#calls.endAll(batchId);
  }

  /** Looks for calls to place. */
  wake(): void {
    this.#mustPlaceAgain = true;
    if (this.#placePromise || !this.#hasStarted || this.#isStopping) return;
    this.#placePromise = this.#placeAll().finally(() => {
      this.#placePromise = undefined;
    });
  }

  async #continue(batch: Batch): Promise<void> {
    const { storage } = this.#context;
    const run = this.#runOf(batch);
    for (const { position, callId } of await storage.batches.calling(batch.id))
      await this.#calls.resume(run, position, callId);
    this.#closeIfDone(run);
  }

  #runOf(batch: Batch): OpenBatch {
    let run = this.#openBatches.get(batch.id);
    if (!run) {
      run = new OpenBatch(this.#context, batch, () => this.wake());
      this.#openBatches.set(batch.id, run);
    }
    return run;
  }

  #closeIfDone(run: OpenBatch): void {
    if (!run.isDone) return;
    run.cancelAlarm();
    this.#openBatches.delete(run.id);
  }

  #onEvent(event: Event): void {
    const hasEnded = event.callId !== null && isFinalEvent(event.type);
    const isOfInstance = event.callId === null && event.instanceId !== null; // linked, paused, resumed …
    if (!hasEnded && !isOfInstance) return;
    if (event.instanceId !== null) this.#instances.wake(event.instanceId);
    if (!hasEnded || event.callId === null || !this.#calls.settle(event.callId)) this.wake(); // a line may be free now
  }

  async #placeAll(): Promise<void> {
    while (this.#mustPlaceAgain && !this.#isStopping) {
      this.#mustPlaceAgain = false;
      for (let hasPlaced = true; hasPlaced && !this.#isStopping; ) {
        hasPlaced = false;
        for (const run of [...this.#openBatches.values()])
          if (await this.#attempt(run, () => this.#step(run))) hasPlaced = true;
      }
    }
  }

  /** Runs work on a batch and returns its result; after a fault, returns false and the batch backs off. */
  async #attempt(run: OpenBatch, work: () => Promise<boolean>): Promise<boolean> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof LeaseLost) return false;
      const level = error instanceof StorageUnavailable ? "warn" : "error";
      this.#context.log[level]({ batch_id: run.id, err: error }, "a batch could not continue; trying again");
      run.mustReconcile = true;
      run.backOff(RETRY_MS);
      return false;
    }
  }

  /** Places the next call of a batch, or takes another step; false if no step is due. */
  async #step(run: OpenBatch): Promise<boolean> {
    const { system, lease } = this.#context;
    while (this.#placements.size >= MAX_PLACEMENTS) await Promise.race(this.#placements);
    if (this.#isStopping || !lease.canDial) return false;
    const { backOffMs } = run;
    if (backOffMs > 0) {
      run.wakeAfter(backOffMs); // a timer may fire up to a millisecond early
      return false;
    }
    if (run.mustReconcile) await this.#reconcile(run);
    const { batch } = run;
    const { startAt = 0, endAt = Number.POSITIVE_INFINITY } = batch.schedule;
    const now = system.now();
    if (batch.status === "SCHEDULED") {
      if (now >= startAt) return await run.move("begin");
      run.wakeAfter(startAt - now);
      return false;
    }
    if (batch.status === "CANCELLED")
      return !run.isSwept && (await this.#endWaiting(run, "CANCELLED", "batch_cancelled"));
    if (batch.status !== "RUNNING") return false;
    if (now >= endAt) return await this.#endWaiting(run, "FAILED", "batch_ended");
    if (run.active >= (batch.maxConcurrent ?? Number.POSITIVE_INFINITY)) return false;
    const freeInstance = this.#instances.next(batch.instanceIds);
    if (freeInstance.instanceId === undefined) {
      run.wakeAfter(freeInstance.waitMs ?? Number.POSITIVE_INFINITY); // usually, an event of a line or call comes first
      return false;
    }
    const target = await this.#nextTarget(run, now);
    if (!target) return false;
    const callAt = await this.#earliestCallAt(batch, target, now);
    if (callAt === undefined) await this.#targetEnds.fail(batch, target, "outside_calling_hours");
    else if (callAt > now) await this.#postpone(run, target, callAt);
    else this.#beginPlacing(run, target, freeInstance.instanceId);
    return true;
  }

  /** Starts storing a target's call. */
  #beginPlacing(run: OpenBatch, target: BatchTarget, instanceId: string): void {
    this.#calls.reserve(run, target.position, instanceId);
    const placement = this.#attempt(run, () => this.#place(run, target, instanceId)).then((mayContinue) => {
      this.#placements.delete(placement);
      this.#calls.release(run, target.position, instanceId);
      this.#closeIfDone(run);
      if (mayContinue) this.wake();
    });
    this.#placements.add(placement);
  }

  /** The next due target; undefined if there is none. A batch without waiting targets is completed. */
  async #nextTarget(run: OpenBatch, now: number): Promise<BatchTarget | undefined> {
    const { storage } = this.#context;
    const target = run.takeDueTarget();
    if (target) return target;
    const placingPositions = new Set(run.placingPositions);
    const { targets, nextAt } = await storage.batches.due(run.id, now, DUE_TARGETS);
    const [first, ...others] = targets.filter(({ position }) => !placingPositions.has(position));
    run.keepDue(others);
    if (!first && nextAt === undefined && run.active === 0) await this.#complete(run);
    if (!first && nextAt !== undefined) run.wakeAfter(nextAt - now);
    return first;
  }

  /** The earliest time at which a target may be called; undefined if there is none. */
  async #earliestCallAt(batch: Batch, { phone, zones }: BatchTarget, now: number): Promise<number | undefined> {
    const { storage } = this.#context;
    const time = nextTargetTime(this.#hours(batch), zones, now);
    if (time === undefined || time > now || batch.gapMs === 0) return time;
    return Math.max(now, await gapEnd(storage, batch, phone, now));
  }

  #hours(batch: Batch): TargetHours {
    return hoursOfBatch(this.#context, this.#lines, batch);
  }

  async #postpone(run: OpenBatch, target: BatchTarget, until: number): Promise<void> {
    const { storage, system } = this.#context;
    const now = system.now();
    const isByHours = nextTargetTime(this.#hours(run.batch), target.zones, now) === until;
    if (isByHours) {
      await storage.batches.postpone(run.id, target.zones, until, now);
      run.dropDue();
    } else {
      const patch = { nextAttemptAt: until, updatedAt: now };
      await storage.batches.updateTarget(run.id, target.position, target.version, patch, []);
    }
  }

  async #place(run: OpenBatch, target: BatchTarget, instanceId: string): Promise<boolean> {
    const { batch } = run;
    const { phone: phoneNumber, position } = target;
    const place = { batchId: batch.id, batchPosition: position, batchAttempt: target.attempts + 1 };
    const body = callBody(batch.message, { ...target, phoneNumber } as never, instanceId);
    try {
      const call = await this.#creation.createForBatch(batchPrincipal(batch), body, place, await run.audio());
      this.#calls.follow(run, call, position);
      return true;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return await this.#handleRefusal(run, target, instanceId, error);
    }
  }

  /** Handles the refusal of a call; true if the next step may follow at once. */
  async #handleRefusal(run: OpenBatch, target: BatchTarget, instanceId: string, refusal: Refusal): Promise<boolean> {
    const { code, retryAfterMs, message } = refusal;
    if (code === "batch_state") {
      run.dropDue();
      await run.refresh();
      return false;
    }
    const limit = BATCH_LIMITS.find((name) => name === code);
    if (limit) {
      run.putBack(target);
      this.#context.log.warn({ batch_id: run.id, code }, `a batch waits: ${message}`);
      run.backOff(Math.min(retryAfterMs ?? LIMIT_WAIT_MS, LIMIT_WAIT_MS), limit);
      return false;
    }
    if (code === "queue_full") {
      run.putBack(target);
      this.#instances.backOff(instanceId);
    } else if (code === "instance_not_found") {
      run.putBack(target);
      this.#instances.markDeleted(instanceId);
      if (run.batch.instanceIds.every((id) => this.#instances.isDeleted(id)))
        return await this.#endWaiting(run, "FAILED", "instance_deleted");
    } else await this.#targetEnds.fail(run.batch, target, code, refusal);
    return true;
  }

  /** Follows calls that were stored although their response was lost. */
  async #reconcile(run: OpenBatch): Promise<void> {
    run.dropDue();
    await run.refresh();
    await this.#continue(run.batch);
    run.mustReconcile = false;
    this.#closeIfDone(run);
  }

  /** Ends some of the waiting targets; false if none was left, which completes the batch. */
  async #endWaiting(run: OpenBatch, status: "FAILED" | "CANCELLED", reason: string): Promise<boolean> {
    run.dropDue();
    if (await this.#targetEnds.endWaiting(run.batch, status, reason)) return true;
    run.isSwept = true;
    if (run.active === 0) await this.#complete(run);
    return false;
  }

  async #complete(run: OpenBatch): Promise<void> {
    const { byStatus } = await this.#context.storage.batches.counts(run.id);
    if (byStatus.CALLING) {
      // A call that this process does not follow: it was stored after the request had failed.
      run.mustReconcile = true;
      return run.backOff(RETRY_MS);
    }
    await run.move("complete");
    this.#closeIfDone(run);
  }
}
