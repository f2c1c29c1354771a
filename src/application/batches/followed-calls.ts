import { type Call, isActive } from "../../domain/calls/call.ts";
import type { Context } from "../context.ts";
import { retryUntilStored } from "../retry-until-stored.ts";
import type { FreeInstances } from "./free-instances.ts";
import type { OpenBatch } from "./open-batch.ts";
import type { TargetEnds } from "./target-ends.ts";

type FollowedCallsContext = Pick<Context, "log" | "shutdownSignal" | "storage" | "system">;

/** An active call's place in its batch. */
interface FollowedCall {
  readonly run: OpenBatch;
  readonly position: number;
  readonly instanceId: string;
}

/** The active calls of open batches. When one ends, its target is settled, and its line is freed. */
export class FollowedCalls {
  readonly #context: FollowedCallsContext;
  readonly #instances: FreeInstances;
  readonly #targetEnds: TargetEnds;
  readonly #endCall: (call: Call) => Promise<void>;
  readonly #onSettled: (run: OpenBatch) => void;
  readonly #calls = new Map<string, FollowedCall>();
  readonly #settlements = new Set<Promise<void>>();

  /**
   * @param endCall ends an active call as `terminated`
   * @param onSettled called when the target of an ended call has been settled
   */
  constructor(
    context: FollowedCallsContext,
    instances: FreeInstances,
    targetEnds: TargetEnds,
    endCall: (call: Call) => Promise<void>,
    onSettled: (run: OpenBatch) => void,
  ) {
    this.#context = context;
    this.#instances = instances;
    this.#targetEnds = targetEnds;
    this.#endCall = endCall;
    this.#onSettled = onSettled;
  }

  /** Reserves a line for a target's call, which counts as active until {@link release}. */
  reserve(run: OpenBatch, position: number, instanceId: string): void {
    run.active++;
    run.placingPositions.add(position);
    this.#instances.take(instanceId);
  }

  /** Releases the reservation of a target whose call was not placed; without effect if the call is followed. */
  release(run: OpenBatch, position: number, instanceId: string): void {
    if (!run.placingPositions.delete(position)) return;
    run.active--;
    this.#instances.giveBack(instanceId);
  }

  /** Follows a new call of a batch, in place of its target's reservation. */
  follow(run: OpenBatch, call: Call, position: number): void {
    if (this.#calls.has(call.id)) return;
    const { instanceId } = call;
    if (!run.placingPositions.has(position)) this.reserve(run, position, instanceId);
    run.placingPositions.delete(position);
    this.#calls.set(call.id, { run, position, instanceId });
  }

  /**
   * Follows the stored call of a target, or settles the target if the call has ended.
   * @param callId null if the call was deleted
   */
  async resume(run: OpenBatch, position: number, callId: string | null): Promise<void> {
    const { calls } = this.#context.storage;
    const call = callId === null ? undefined : await calls.get(callId);
    if (!call || !isActive(call.status)) return this.#settleTarget(run, position, call);
    if (this.#calls.has(call.id)) return;
    this.follow(run, call, position);
    const current = await calls.get(call.id);
    if (!current || !isActive(current.status)) this.settle(call.id); // it has ended in the meantime
  }

  /** Settles the target of an ended call; false if the call is not followed. */
  settle(callId: string): boolean {
    const call = this.#calls.get(callId);
    if (!call) return false;
    const settlement = this.#settleEnded(callId, call);
    this.#settlements.add(settlement);
    void settlement.finally(() => this.#settlements.delete(settlement));
    return true;
  }

  /** Ends the active calls of a batch as `terminated`. */
  async endAll(batchId: string): Promise<void> {
    const { storage } = this.#context;
    for (const [callId, { run }] of [...this.#calls]) {
      if (run.id !== batchId) continue;
      const call = await storage.calls.get(callId);
      if (call && isActive(call.status)) await this.#endCall(call);
    }
  }

  /** Resolves when every ended call has settled its target. */
  async whenSettled(): Promise<void> {
    await Promise.all(this.#settlements);
  }

  async #settleEnded(callId: string, { run, position, instanceId }: FollowedCall): Promise<void> {
    const { storage, log } = this.#context;
    let isAnswered = false;
    try {
      const call = await retryUntilStored(this.#context, `the call ${callId} of a batch`, () =>
        storage.calls.get(callId),
      );
      isAnswered = call?.startedAt !== null;
      await this.#settleTarget(run, position, call);
    } catch (error) {
      log.warn({ call_id: callId, err: error }, "a target could not be settled; the next start settles it");
    }
    if (!this.#calls.delete(callId)) return;
    this.#instances.release(instanceId, isAnswered);
    run.active--;
    this.#onSettled(run);
  }

  /** Settles the target of an ended call, and pauses the batch if too many of its calls fail for the same reason. */
  async #settleTarget(run: OpenBatch, position: number, call: Call | undefined): Promise<void> {
    const isSettled = await this.#targetEnds.settle(run, position, call);
    run.isSwept = false; // the target may wait again, although the batch was cancelled in the meantime
    const pauseReason = isSettled && call?.outcome ? run.breaker?.add(call.status, call.outcome.reason) : undefined;
    if (pauseReason !== undefined && run.batch.status === "RUNNING") await run.move("pause", pauseReason);
  }
}
