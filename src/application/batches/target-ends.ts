import { errorText } from "../../base/error.ts";
import type { Batch, BatchTarget } from "../../domain/batches/batch.ts";
import { afterCall, targetResult } from "../../domain/batches/batch-flow.ts";
import type { Call } from "../../domain/calls/call.ts";
import type { Event } from "../../domain/events.ts";
import type { Refusal } from "../../domain/refusal.ts";
import type { TargetPatch } from "../../ports/storage.ts";
import type { Context } from "../context.ts";
import { retryUntilStored } from "../retry-until-stored.ts";
import { targetDone } from "./batch-records.ts";

type TargetEndsContext = Pick<Context, "events" | "log" | "shutdownSignal" | "storage" | "system">;

/** Number of waiting targets ended in one transaction. */
const MAX_ENDED_AT_ONCE = 200;

/** Stores the ends of targets, each with its event. */
export class TargetEnds {
  readonly #context: TargetEndsContext;

  constructor(context: TargetEndsContext) {
    this.#context = context;
  }

  /**
   * Stores the result of a call in its target: the target ends, or waits for its next call.
   * @param run its batch, which may be cancelled before the storage accepts the result
   * @param call undefined if it was deleted
   * @returns false if the target was not waiting for this call
   */
  async settle(run: { readonly batch: Batch }, position: number, call: Call | undefined): Promise<boolean> {
    const { storage, events, system } = this.#context;
    const { id } = run.batch;
    return retryUntilStored(this.#context, `target ${position} of batch ${id}`, async () => {
      const target = await storage.batches.target(id, position);
      const { batch } = run;
      if (target?.status !== "CALLING" || (call && target.callId !== call.id)) return false;
      const patch = this.#patchAfter(batch, target, call);
      const next: BatchTarget = { ...target, ...(patch as Partial<BatchTarget>) };
      const log = next.status === "WAITING" ? [] : [events.event(...targetDone(batch, next), system.now())];
      if (!(await storage.batches.updateTarget(id, position, target.version, patch, log))) return false;
      events.publish(log);
      return true;
    });
  }

  /** Ends one waiting target as `FAILED`. @param refusal the refusal of its call */
  async fail(batch: Batch, target: BatchTarget, reason: string, refusal?: Refusal): Promise<void> {
    const { storage, events, system, log } = this.#context;
    const { position, version } = target;
    if (refusal) log.warn({ batch_id: batch.id, position }, `a target is not called: ${errorText(refusal)}`);
    const patch = { status: "FAILED", reason, nextAttemptAt: null, updatedAt: system.now() } as const;
    const done = events.event(...targetDone(batch, { ...target, ...patch }), system.now());
    const updatedTarget = await storage.batches.updateTarget(batch.id, position, version, patch, [done]);
    if (updatedTarget && updatedTarget !== "taken") events.publish([done]);
  }

  /** Ends some of a batch's waiting targets; false if none was left. */
  async endWaiting(batch: Batch, status: "FAILED" | "CANCELLED", reason: string): Promise<boolean> {
    const { storage, events, system } = this.#context;
    const now = system.now();
    // By position: the storage may repeat its transaction, and then stores the last event of each target.
    const newEvents = new Map<number, Event>();
    const eventOf = (target: BatchTarget): Event => {
      const event = events.event(...targetDone(batch, { ...target, status, reason }), now);
      newEvents.set(target.position, event);
      return event;
    };
    const endedTargets = await storage.batches.endWaiting(batch.id, status, reason, MAX_ENDED_AT_ONCE, eventOf, now);
    events.publish(endedTargets.map(({ position }) => newEvents.get(position)!));
    return endedTargets.length > 0;
  }

  #patchAfter(batch: Batch, target: BatchTarget, call: Call | undefined): TargetPatch {
    const updatedAt = this.#context.system.now();
    if (!call) return { status: "FAILED", reason: "interrupted", nextAttemptAt: null, updatedAt };
    const result = targetResult(call);
    const reason = call.outcome?.reason ?? "interrupted";
    const endPatch = { reason, updatedAt, nextAttemptAt: null, ...(result && { result }) };
    const decision = afterCall(batch.retry, call);
    if (decision.do === "end") return { ...endPatch, status: decision.status };
    const attempts = decision.isCounted ? target.attempts : target.attempts - 1;
    if (batch.status === "CANCELLED" || batch.status === "COMPLETED")
      return { ...endPatch, status: "FAILED", attempts };
    return { ...endPatch, status: "WAITING", attempts, nextAttemptAt: decision.at };
  }
}
