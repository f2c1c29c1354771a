import type { Batch, BatchTarget } from "../../domain/batches/batch.ts";
import { nextTargetTime, type TargetHours } from "../../domain/batches/target-time.ts";
import { paceDelayMs } from "../../domain/dialling-rules/pace.ts";
import type { InstancePlan, PlannedCall } from "./batch-use-cases.ts";

/** An instance as a plan uses it. */
export interface PlannedInstance extends Omit<InstancePlan, "calls"> {
  /** Time from which it may dial, ms since 1970-01-01 UTC. */
  readonly freeAt: number;
}

interface InstanceUse {
  readonly instance: PlannedInstance;
  /** Time from which each of its lines is free, ms since 1970-01-01 UTC. */
  readonly lines: number[];
  lastDialAt: number | undefined;
  calls: number;
}

/** Times of a batch's calls, if every call is answered at once and lasts `callMs`. */
export class CallTimes {
  readonly calls: PlannedCall[] = [];
  #startsAt: number | null = null;
  #endsAt: number | null = null;
  readonly #hours: TargetHours;
  readonly #callMs: number;
  readonly #maxConcurrent: number;
  /** Ends of the calls so far that were still going on at the last dial, ms since 1970-01-01 UTC. */
  #ends: number[] = [];
  readonly #instances: InstanceUse[];

  constructor(
    { maxConcurrent = Number.POSITIVE_INFINITY }: Pick<Batch, "maxConcurrent">,
    hours: TargetHours,
    instances: readonly PlannedInstance[],
    callMs: number,
  ) {
    this.#hours = hours;
    this.#callMs = callMs;
    this.#maxConcurrent = maxConcurrent;
    this.#instances = instances.map((instance) => ({
      instance,
      lines: Array.from({ length: instance.lines }, () => instance.freeAt),
      lastDialAt: undefined,
      calls: 0,
    }));
  }

  /** Plans the call of the next target. @param maxCalls calls that are kept in `calls` */
  add(
    { position, phone, zones }: Pick<BatchTarget, "position" | "phone" | "zones">,
    from: number,
    maxCalls: number,
  ): void {
    let use: InstanceUse | undefined;
    let freeAt = Number.POSITIVE_INFINITY;
    for (const other of this.#instances) {
      const otherFreeAt = Math.max(from, this.#freeAt(other));
      if (use && (otherFreeAt > freeAt || (otherFreeAt === freeAt && other.calls >= use.calls))) continue;
      use = other;
      freeAt = otherFreeAt;
    }
    const at = use && nextTargetTime(this.#hours, zones, this.#withRoom(freeAt));
    if (!use || at === undefined) return;
    const line = use.lines.indexOf(Math.min(...use.lines));
    use.lines[line] = at + this.#callMs;
    use.lastDialAt = at;
    use.calls++;
    if (this.#maxConcurrent < Number.POSITIVE_INFINITY) this.#ends.push(at + this.#callMs);
    this.#startsAt = Math.min(this.#startsAt ?? at, at);
    this.#endsAt = Math.max(this.#endsAt ?? 0, at + this.#callMs);
    if (this.calls.length < maxCalls) this.calls.push({ position, phone, instanceId: use.instance.instanceId, at });
  }

  get startsAt(): number | null {
    return this.#startsAt;
  }

  get endsAt(): number | null {
    return this.#endsAt;
  }

  get instances(): readonly InstancePlan[] {
    return this.#instances.map(({ instance: { freeAt: _, ...instance }, calls }) => ({ ...instance, calls }));
  }

  #freeAt({ instance, lines, lastDialAt }: InstanceUse): number {
    const free = Math.min(...lines);
    if (lastDialAt === undefined) return free;
    return Math.max(free, lastDialAt + paceDelayMs({ paceMs: instance.paceMs }, { sinceLastDialMs: 0, chance: 0 }));
  }

  /** The first time from `at` on at which fewer calls than the batch's limit go on. */
  #withRoom(at: number): number {
    if (this.#maxConcurrent === Number.POSITIVE_INFINITY) return at;
    this.#ends = this.#ends.filter((end) => end > at);
    if (this.#ends.length < this.#maxConcurrent) return at;
    const sorted = [...this.#ends].sort((a, b) => a - b);
    return sorted[sorted.length - this.#maxConcurrent] ?? at;
  }
}
