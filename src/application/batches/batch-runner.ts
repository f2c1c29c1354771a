import { errorText } from "../../base/error.ts";
import { nextState } from "../../base/machine.ts";
import {
  BATCH_TRANSITIONS,
  type Batch,
  type BatchMove,
  type BatchTarget,
  type TargetStatus,
} from "../../domain/batches/batch.ts";
import { afterCall, BreakerCount, targetResult } from "../../domain/batches/batch-flow.ts";
import { nextTargetTime, type TargetHours } from "../../domain/batches/target-time.ts";
import { type Call, isActive, type Message } from "../../domain/calls/call.ts";
import { type Event, type Fact, isFinalEvent } from "../../domain/events.ts";
import { protectionInForce } from "../../domain/number-protection/number-protection.ts";
import { numberForms } from "../../domain/numbers/number-forms.ts";
import { Refusal } from "../../domain/refusal.ts";
import { LeaseLost, StorageUnavailable, type TargetPatch } from "../../ports/storage.ts";
import type { CallCreation } from "../calls/creation/call-creation.ts";
import type { CheckedAudio } from "../calls/creation/message-checks.ts";
import type { Context } from "../context.ts";
import type { Lines } from "../instances/lines.ts";
import { retryUntilStored } from "../retry-until-stored.ts";
import { batchPrincipal, batchSubject, targetDone } from "./batch-records.ts";
import { FreeInstances } from "./free-instances.ts";
import { callBody } from "./target-checks.ts";

/** Dependencies of the batch runner. */
export type BatchRunnerContext = Pick<
  Context,
  "events" | "lease" | "log" | "policy" | "shutdownSignal" | "storage" | "system" | "telephony"
>;

/** Targets that are read at once. */
const DUE_TARGETS = 50;
/** Longest time until a batch is looked at again, ms: the wall clock may be set. */
const MAX_ALARM_MS = 60_000;
/** Time until a batch is looked at again after a fault, ms. */
const RETRY_MS = 1_000;
/** Time until a batch is looked at again after a limit was reached, ms. */
const LIMIT_WAIT_MS = 60_000;
/** Waiting targets that end in one transaction. */
const ENDED_AT_ONCE = 200;
/** Refusals about the batch, not about one target. */
const BATCH_REFUSALS = ["daily_call_limit", "storage_quota", "server_busy"];

/** A batch that this process calls for. */
interface OpenBatch {
  batch: Batch;
  /** Due targets that were read and not called yet. */
  due: BatchTarget[];
  /** Number of its active calls. */
  active: number;
  /** A cancelled batch has no waiting target any more. */
  isSwept: boolean;
  /** The storage failed during a write: the batch and its calls are read before the next step. */
  mustReconcile: boolean;
  /** The batch places no call before this time, by the monotonic clock, ms. */
  restUntil: number;
  breaker: BreakerCount | undefined;
  audio: CheckedAudio | undefined;
  cancelAlarm: (() => void) | undefined;
}

/** Place of an active call in its batch. */
interface ActiveCall {
  readonly run: OpenBatch;
  readonly position: number;
  readonly instanceId: string;
}

/**
 * Places the calls of open batches: each as soon as a target is due and a line of one of its instances is free. Batches take
 * turns. A target and its call are stored together, and a target ends in one write, so a crash at any moment neither
 * repeats a call nor skips a target; `start` finishes what a crash left.
 */
export class BatchRunner {
  readonly #context: BatchRunnerContext;
  readonly #creation: Pick<CallCreation, "createForBatch">;
  readonly #lines: Pick<Lines, "find">;
  readonly #instances: FreeInstances;
  readonly #endCall: (call: Call) => Promise<void>;
  readonly #open = new Map<string, OpenBatch>();
  readonly #calls = new Map<string, ActiveCall>();
  readonly #settling = new Set<Promise<void>>();
  #placing: Promise<void> | undefined;
  #mustPlaceAgain = false;
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
    this.#endCall = endCall;
  }

  /** Continues the open batches. Calls that a crashed process left must be settled before. */
  async start(): Promise<void> {
    const { storage, events } = this.#context;
    this.#unlisten = events.listenAll({ onEvent: (event) => this.#onEvent(event), onClose: () => {} });
    for (const batch of await storage.batches.open()) await this.#continue(batch);
    this.wake();
  }

  /** Places no more calls; resolves when ended calls are settled. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const run of this.#open.values()) run.cancelAlarm?.();
    await this.#placing;
  }

  /** Resolves when every ended call has settled its target; to be awaited after the last call. */
  async whenIdle(): Promise<void> {
    this.#unlisten();
    await Promise.all(this.#settling);
  }

  /** Takes over a batch that a request has changed. */
  changed(batch: Batch): void {
    const run = this.#runOf(batch);
    if (batch.version < run.batch.version) return;
    if (batch.status === "RUNNING" && run.batch.status === "PAUSED") run.breaker?.reset();
    run.batch = batch;
    run.due = [];
    run.restUntil = 0;
    this.#dropIfOver(run);
    this.wake();
  }

  /** Reads a batch again soon: a request may have changed it, although the storage has not confirmed it. */
  recheck(batch: Batch): void {
    const run = this.#runOf(batch);
    run.mustReconcile = true;
    this.#rest(run, RETRY_MS);
  }

  /** Ends the active calls of a batch as `terminated`. */
  async endCalls(batchId: string): Promise<void> {
    const { storage } = this.#context;
    for (const [callId, { run }] of [...this.#calls]) {
      if (run.batch.id !== batchId) continue;
      const call = await storage.calls.get(callId);
      if (call && isActive(call.status)) await this.#endCall(call);
    }
  }

  /** Looks for calls to place. */
  wake(): void {
    this.#mustPlaceAgain = true;
    if (this.#placing || this.#isStopping) return;
    this.#placing = this.#placeAll().finally(() => {
      this.#placing = undefined;
    });
  }

  async #continue(batch: Batch): Promise<void> {
    const { storage } = this.#context;
    const run = this.#runOf(batch);
    for (const { position, callId } of await storage.batches.calling(batch.id)) {
      const call = callId === null ? undefined : await storage.calls.get(callId);
      if (call && isActive(call.status)) await this.#followStored(run, call, position);
      else await this.#settle(run, position, call);
    }
    this.#dropIfOver(run);
  }

  #runOf(batch: Batch): OpenBatch {
    const known = this.#open.get(batch.id);
    if (known) return known;
    const breaker = batch.breaker && new BreakerCount(batch.breaker);
    const run: OpenBatch = {
      ...{ batch, breaker, due: [], active: 0, isSwept: false, mustReconcile: false, restUntil: 0 },
      audio: undefined,
      cancelAlarm: undefined,
    };
    this.#open.set(batch.id, run);
    return run;
  }

  #dropIfOver(run: OpenBatch): void {
    const { status, id } = run.batch;
    const isOver = status === "DRAFT" || status === "COMPLETED" || (status === "CANCELLED" && run.isSwept);
    if (run.active > 0 || run.mustReconcile || !isOver) return;
    run.cancelAlarm?.();
    this.#open.delete(id);
  }

  #onEvent(event: Event): void {
    const hasEnded = event.callId !== null && isFinalEvent(event.type);
    if (!hasEnded && event.type !== "instance.active") return;
    if (event.instanceId !== null) this.#instances.wake(event.instanceId);
    const call = this.#calls.get(event.callId ?? "");
    if (!hasEnded || event.callId === null || !call) {
      this.wake(); // a line may be free now
      return;
    }
    this.#settleCall(event.callId, call);
  }

  #settleCall(callId: string, call: ActiveCall): void {
    const settling = this.#settleEnded(callId, call);
    this.#settling.add(settling);
    void settling.finally(() => this.#settling.delete(settling));
  }

  async #settleEnded(callId: string, { run, position, instanceId }: ActiveCall): Promise<void> {
    const { storage, log } = this.#context;
    let isAnswered = false;
    try {
      const call = await retryUntilStored(this.#context, `the call ${callId} of a batch`, () =>
        storage.calls.get(callId),
      );
      isAnswered = call?.startedAt !== null;
      await this.#settle(run, position, call);
    } catch (error) {
      log.warn({ call_id: callId, err: error }, "a target could not be settled; the next start settles it");
    }
    if (!this.#calls.delete(callId)) return;
    this.#instances.release(instanceId, isAnswered);
    run.active--;
    this.#dropIfOver(run);
    this.wake();
  }

  /** Stores what the end of a call means for its target. @param call undefined: it was deleted */
  async #settle(run: OpenBatch, position: number, call: Call | undefined): Promise<void> {
    const { storage, events, system } = this.#context;
    const { id } = run.batch;
    const pause = await retryUntilStored(this.#context, `target ${position} of batch ${id}`, async () => {
      const target = await storage.batches.target(id, position);
      if (target?.status !== "CALLING" || (call && target.callId !== call.id)) return undefined;
      const patch = this.#patchAfter(run.batch, target, call);
      const next: BatchTarget = { ...target, ...(patch as Partial<BatchTarget>) };
      const log = next.status === "WAITING" ? [] : [events.event(...targetDone(run.batch, next), system.now())];
      if (!(await storage.batches.updateTarget(id, position, target.version, patch, log))) return undefined;
      events.publish(log);
      const { outcome } = call ?? {};
      return call && outcome ? run.breaker?.add(call.status, outcome.reason) : undefined;
    });
    if (pause !== undefined && run.batch.status === "RUNNING") await this.#move(run, "pause", pause);
  }

  #patchAfter(batch: Batch, target: BatchTarget, call: Call | undefined): TargetPatch {
    const updatedAt = this.#context.system.now();
    if (!call) return { status: "FAILED", reason: "interrupted", nextAttemptAt: null, updatedAt };
    const result = targetResult(call);
    const reason = call.outcome?.reason ?? "interrupted";
    const ended = { reason, updatedAt, nextAttemptAt: null, ...(result && { result }) };
    const decision = afterCall(batch.retry, call);
    if (decision.do === "end") return { ...ended, status: decision.status };
    const attempts = decision.isCounted ? target.attempts : target.attempts - 1;
    if (batch.status === "CANCELLED" || batch.status === "COMPLETED") return { ...ended, status: "FAILED", attempts };
    return { ...ended, status: "WAITING", attempts, nextAttemptAt: decision.at };
  }

  async #placeAll(): Promise<void> {
    const { log } = this.#context;
    while (this.#mustPlaceAgain && !this.#isStopping) {
      this.#mustPlaceAgain = false;
      for (let hasPlaced = true; hasPlaced && !this.#isStopping; ) {
        hasPlaced = false;
        for (const run of [...this.#open.values()])
          try {
            if (await this.#step(run)) hasPlaced = true;
          } catch (error) {
            if (error instanceof LeaseLost) return;
            const level = error instanceof StorageUnavailable ? "warn" : "error";
            log[level]({ batch_id: run.batch.id, err: error }, "a batch could not continue; trying again");
            run.mustReconcile = true;
            this.#rest(run, RETRY_MS);
          }
      }
    }
  }

  /** Places the next call of a batch, or takes another step; false if there is nothing to do now. */
  async #step(run: OpenBatch): Promise<boolean> {
    const { system, lease } = this.#context;
    if (this.#isStopping || !lease.canDial || system.monotonic() < run.restUntil) return false;
    if (run.mustReconcile) await this.#reconcile(run);
    const { batch } = run;
    const { startAt = 0, endAt = Number.POSITIVE_INFINITY } = batch.schedule;
    const now = system.now();
    if (batch.status === "SCHEDULED") {
      if (now >= startAt) return await this.#move(run, "begin");
      this.#alarm(run, startAt - now);
      return false;
    }
    if (batch.status === "CANCELLED")
      return !run.isSwept && (await this.#endWaiting(run, "CANCELLED", "batch_cancelled"));
    if (batch.status !== "RUNNING") return false;
    if (now >= endAt) return await this.#endWaiting(run, "FAILED", "batch_ended");
    if (run.active >= (batch.maxConcurrent ?? Number.POSITIVE_INFINITY)) return false;
    const free = this.#instances.next(batch.instanceIds);
    if (free.instanceId === undefined) {
      if (free.waitMs !== undefined) this.#alarm(run, free.waitMs);
      return false;
    }
    const target = await this.#nextTarget(run, now);
    if (!target) return false;
    const callAt = await this.#earliest(run.batch, target, now);
    if (callAt === undefined) return await this.#endTarget(run, target, "outside_calling_hours");
    if (callAt > now) return await this.#postpone(run, target, callAt);
    return await this.#place(run, target, free.instanceId);
  }

  /** The next due target; undefined: none is due, and the batch is completed if none waits. */
  async #nextTarget(run: OpenBatch, now: number): Promise<BatchTarget | undefined> {
    const { storage } = this.#context;
    if (run.due.length === 0) {
      const { targets, nextAt } = await storage.batches.due(run.batch.id, now, DUE_TARGETS);
      run.due = [...targets];
      if (targets.length === 0 && nextAt === undefined && run.active === 0) await this.#complete(run);
      if (targets.length === 0 && nextAt !== undefined) this.#alarm(run, nextAt - now);
    }
    return run.due.shift();
  }

  /** The earliest time at which a target may be called; undefined if there is none. */
  async #earliest(batch: Batch, { phone, zones }: BatchTarget, now: number): Promise<number | undefined> {
    const { storage } = this.#context;
    const time = nextTargetTime(this.#hours(batch), zones, now);
    if (time === undefined || time > now || batch.gapMs === 0) return time;
    let latest = 0;
    for (const targetPhone of numberForms(phone))
      for (const call of await storage.calls.list(batch.userId, { targetPhone }, { limit: 1 }))
        if (call.batchId !== batch.id) latest = Math.max(latest, call.endedAt ?? now);
    return latest === 0 ? now : Math.max(now, Math.min(latest, now) + batch.gapMs);
  }

  #hours({ schedule, instanceIds: [first = ""] }: Batch): TargetHours {
    const { policy } = this.#context;
    const { callingHours } = protectionInForce(policy, this.#lines.find(first)?.telephony.capabilities.protection);
    return { schedule, callingHours: callingHours || undefined };
  }

  async #postpone(run: OpenBatch, target: BatchTarget, until: number): Promise<boolean> {
    const { storage, system } = this.#context;
    const { id } = run.batch;
    const isByHours = nextTargetTime(this.#hours(run.batch), target.zones, system.now()) === until;
    if (isByHours) {
      await storage.batches.postpone(id, target.zones, until);
      run.due = [];
    } else {
      const patch = { nextAttemptAt: until, updatedAt: system.now() };
      await storage.batches.updateTarget(id, target.position, target.version, patch, []);
    }
    return true;
  }

  async #place(run: OpenBatch, target: BatchTarget, instanceId: string): Promise<boolean> {
    const { batch } = run;
    const { phone: phoneNumber, position } = target;
    const place = { batchId: batch.id, batchPosition: position, batchAttempt: target.attempts + 1 };
    const body = callBody(batch.message, { ...target, phoneNumber } as never, instanceId);
    try {
      const audio = await this.#audio(run);
      const call = await this.#creation.createForBatch(batchPrincipal(batch), body, place, audio);
      this.#follow(run, call, position);
      return true;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return await this.#refused(run, target, instanceId, error);
    }
  }

  /** Carries on after a refusal of a call. */
  async #refused(run: OpenBatch, target: BatchTarget, instanceId: string, refusal: Refusal): Promise<boolean> {
    const { code, retryAfterMs } = refusal;
    if (code === "batch_state") {
      run.due = [];
      await this.#refresh(run);
      return false;
    }
    run.due.unshift(target);
    if (code === "queue_full") {
      this.#instances.rest(instanceId);
      return true;
    }
    if (code === "instance_not_found") {
      this.#instances.lose(instanceId);
      if (run.batch.instanceIds.some((id) => !this.#instances.isLost(id))) return true;
      return await this.#endWaiting(run, "FAILED", "instance_deleted");
    }
    if (BATCH_REFUSALS.includes(code)) {
      this.#context.log.warn({ batch_id: run.batch.id, code }, `a batch waits: ${refusal.message}`);
      this.#rest(run, Math.min(retryAfterMs ?? LIMIT_WAIT_MS, LIMIT_WAIT_MS));
      return false;
    }
    run.due.shift();
    return await this.#endTarget(run, target, code, refusal);
  }

  #follow(run: OpenBatch, call: Call, position: number): void {
    if (this.#calls.has(call.id)) return;
    run.active++;
    const { instanceId } = call;
    this.#instances.take(instanceId);
    this.#calls.set(call.id, { run, position, instanceId });
  }

  /** Follows a stored call, which may have ended since it was read. */
  async #followStored(run: OpenBatch, call: Call, position: number): Promise<void> {
    const { id, instanceId } = call;
    if (this.#calls.has(id)) return;
    this.#follow(run, call, position);
    const current = await this.#context.storage.calls.get(id);
    if (!current || !isActive(current.status)) this.#settleCall(id, { run, position, instanceId });
  }

  /** Follows calls that were stored although their response was lost. */
  async #reconcile(run: OpenBatch): Promise<void> {
    run.due = [];
    await this.#refresh(run);
    await this.#continue(run.batch);
    run.mustReconcile = false;
    this.#dropIfOver(run);
  }

  /** Reads the batch again: another request has changed it. */
  async #refresh(run: OpenBatch): Promise<void> {
    const batch = await this.#context.storage.batches.get(run.batch.id);
    if (batch && batch.version >= run.batch.version) run.batch = batch;
  }

  async #audio(run: OpenBatch): Promise<OpenBatch["audio"]> {
    const { batch } = run;
    if (batch.message.type !== "FIXED_AUDIO") return undefined;
    run.audio ??= {
      message: batch.message.audio as CheckedAudio["message"],
      file: await this.#context.storage.batches.audio(batch.id),
    };
    return run.audio;
  }

  async #endTarget(run: OpenBatch, target: BatchTarget, reason: string, cause?: Refusal): Promise<boolean> {
    const { storage, events, system, log } = this.#context;
    if (cause)
      log.warn({ batch_id: run.batch.id, position: target.position }, `a target is not called: ${errorText(cause)}`);
    const patch = { status: "FAILED", reason, nextAttemptAt: null, updatedAt: system.now() } as const;
    const done = events.event(...targetDone(run.batch, { ...target, ...patch }), system.now());
    const updated = await storage.batches.updateTarget(run.batch.id, target.position, target.version, patch, [done]);
    if (updated && updated !== "taken") events.publish([done]);
    return true;
  }

  async #endWaiting(run: OpenBatch, status: "FAILED" | "CANCELLED", reason: string): Promise<boolean> {
    const { storage, events, system } = this.#context;
    const done: Event[] = [];
    run.due = [];
    const ended = await storage.batches.endWaiting(run.batch.id, status, reason, ENDED_AT_ONCE, (target) => {
      const event = events.event(...targetDone(run.batch, { ...target, status, reason }), system.now());
      done.push(event);
      return event;
    });
    events.publish(done);
    if (ended.length > 0) return true;
    run.isSwept = true;
    if (run.active === 0) await this.#complete(run);
    return false;
  }

  async #complete(run: OpenBatch): Promise<void> {
    const { byStatus } = await this.#context.storage.batches.counts(run.batch.id);
    if (byStatus.CALLING) {
      // A call that this process does not follow: its insertion was committed after its response was given up.
      run.mustReconcile = true;
      return this.#rest(run, RETRY_MS);
    }
    await this.#move(run, "complete");
    this.#dropIfOver(run);
  }

  /** Moves a batch, with its event; true if it has moved. */
  async #move(run: OpenBatch, move: BatchMove, reason: string | null = null): Promise<boolean> {
    const { storage, events, system } = this.#context;
    const status = nextState(BATCH_TRANSITIONS, run.batch.status, move);
    if (!status) return false;
    const { byStatus } = move === "complete" ? await storage.batches.counts(run.batch.id) : { byStatus: {} };
    const event = events.event(moveFact(run.batch, move, reason, byStatus), batchSubject(run.batch), system.now());
    const now = system.now();
    const patch = {
      status,
      reason,
      updatedAt: now,
      ...(move === "begin" && { startedAt: now }),
      ...(move === "complete" && { endedAt: now }),
    };
    const batch = await storage.batches.update(run.batch.id, run.batch.version, patch, [event]);
    if (!batch) {
      await this.#refresh(run);
      return true;
    }
    run.batch = batch;
    events.publish([event]);
    return true;
  }

  #rest(run: OpenBatch, ms: number): void {
    run.restUntil = this.#context.system.monotonic() + ms;
    this.#alarm(run, ms);
  }

  #alarm(run: OpenBatch, ms: number): void {
    run.cancelAlarm?.();
    if (this.#isStopping) return;
    const { system } = this.#context;
    const endsInMs = (run.batch.schedule.endAt ?? Number.POSITIVE_INFINITY) - system.now();
    const alarmMs = Math.min(ms, MAX_ALARM_MS, endsInMs > 0 ? endsInMs : ms);
    run.cancelAlarm = system.after(Math.max(1, alarmMs), () => this.wake());
  }
}

/** The event of a move. */
export function moveFact(
  batch: Batch,
  move: BatchMove,
  reason: string | null,
  targets: Readonly<Partial<Record<TargetStatus, number>>>,
): Fact {
  const reference = { batch_id: batch.id };
  switch (move) {
    case "schedule":
      return {
        event: "batch_scheduled",
        data: { ...reference, start_at: new Date(batch.schedule.startAt ?? 0).toISOString() },
      };
    case "begin":
      return { event: "batch_started", data: reference };
    case "pause":
      return { event: "batch_paused", data: { ...reference, reason: reason ?? "requested" } };
    case "resume":
      return { event: "batch_resumed", data: reference };
    case "complete":
      return { event: "batch_completed", data: { ...reference, targets: targets as Record<string, number> } };
    case "cancel":
      return { event: "batch_cancelled", data: { ...reference, targets: targets as Record<string, number> } };
  }
}
