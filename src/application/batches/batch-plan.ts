import { nextTurn } from "../../base/turn-budget.ts";
import type { Batch, BatchTarget } from "../../domain/batches/batch.ts";
import { nextTargetTime, type TargetHours } from "../../domain/batches/target-time.ts";
import { paceDelayMs } from "../../domain/dialling-rules/pace.ts";
import type { InstancePlan, PlannedCall } from "./batch-use-cases.ts";

/** An instance as a plan uses it. */
export interface PlannedInstance extends Omit<InstancePlan, "calls"> {
  /** Time from which it may dial, ms since 1970-01-01 UTC. */
  readonly freeAt: number;
}

/** Targets whose times differ by less are planned alike, ms. */
const STEP_MS = 10_000;

/** Calls that are planned before other work gets a turn of the event loop. */
const CALLS_PER_TURN = 50;

interface InstanceUse {
  readonly instance: PlannedInstance;
  /** Time from which each of its lines is free, ms since 1970-01-01 UTC. */
  readonly lines: number[];
  lastDialAt: number | undefined;
  calls: number;
}

/** Waiting targets of the same zones that may be called from about the same time on, in the order of their positions. */
interface TargetGroup {
  readonly zones: string;
  /** Time from which they may be called, ms since 1970-01-01 UTC; it grows with the plan. */
  readyAt: number;
  /** Positions of the targets. */
  readonly positions: number[];
  /** Numbers of the first ones, which the plan may list. */
  readonly phones: string[];
  /** Number of targets that are planned. */
  plannedCount: number;
}

/**
 * Times of a batch's calls, if every call is answered at once and lasts `callMs`. As in the batch itself, a target whose hours
 * come later does not keep a line from the others.
 */
export class CallTimes {
  readonly calls: PlannedCall[] = [];
  #startsAt: number | null = null;
  #endsAt: number | null = null;
  readonly #hours: TargetHours;
  readonly #callMs: number;
  readonly #maxCalls: number;
  readonly #maxConcurrent: number;
  /** Ends of the calls so far that were still going on at the last dial, ms since 1970-01-01 UTC. */
  #ends: number[] = [];
  readonly #instances: InstanceUse[];
  readonly #groups = new Map<string, TargetGroup>();

  /** @param maxCalls calls that are kept in `calls` */
  constructor(
    { maxConcurrent = Number.POSITIVE_INFINITY }: Pick<Batch, "maxConcurrent">,
    hours: TargetHours,
    instances: readonly PlannedInstance[],
    { callMs, maxCalls }: { readonly callMs: number; readonly maxCalls: number },
  ) {
    this.#hours = hours;
    this.#callMs = callMs;
    this.#maxCalls = maxCalls;
    this.#maxConcurrent = maxConcurrent;
    this.#instances = instances.map((instance) => ({
      instance,
      lines: Array.from({ length: instance.lines }, () => instance.freeAt),
      lastDialAt: undefined,
      calls: 0,
    }));
  }

  /** Adds a target that may be called from a time on. Targets are added in the order of their positions. */
  add({ position, phone, zones }: Pick<BatchTarget, "position" | "phone" | "zones">, from: number): void {
    const key = `${Math.ceil(from / STEP_MS)} ${zones}`;
    let group = this.#groups.get(key);
    if (!group) {
      group = { zones, readyAt: from, positions: [], phones: [], plannedCount: 0 };
      this.#groups.set(key, group);
    }
    group.readyAt = Math.max(group.readyAt, from);
    if (group.phones.length < this.#maxCalls) group.phones.push(phone);
    group.positions.push(position);
  }

  /** Plans a call for each target that was added, in several turns of the event loop. */
  async plan(): Promise<void> {
    for (let count = 1; this.#planNext(); count++) if (count % CALLS_PER_TURN === 0) await nextTurn();
    this.calls.sort((a, b) => a.at - b.at || a.position - b.position);
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

  #planNext(): boolean {
    const next = this.#nextFreeInstance();
    if (!next) return false;
    const { use, freeAt } = next;
    const group = this.#nextGroup(this.#withRoom(freeAt));
    if (!group) return false;
    const at = this.#withRoom(Math.max(freeAt, group.readyAt));
    const position = group.positions[group.plannedCount] as number;
    const phone = group.phones[group.plannedCount];
    group.plannedCount++;
    use.lines[use.lines.indexOf(Math.min(...use.lines))] = at + this.#callMs;
    use.lastDialAt = at;
    use.calls++;
    if (this.#maxConcurrent < Number.POSITIVE_INFINITY) this.#ends.push(at + this.#callMs);
    this.#startsAt = Math.min(this.#startsAt ?? at, at);
    this.#endsAt = Math.max(this.#endsAt ?? 0, at + this.#callMs);
    if (phone !== undefined && this.calls.length < this.#maxCalls)
      this.calls.push({ position, phone, instanceId: use.instance.instanceId, at });
    return true;
  }

  /** The instance that may dial first, and the time. */
  #nextFreeInstance(): { readonly use: InstanceUse; readonly freeAt: number } | undefined {
    let first: { use: InstanceUse; freeAt: number } | undefined;
    for (const use of this.#instances) {
      const freeAt = this.#freeAt(use);
      if (first && (freeAt > first.freeAt || (freeAt === first.freeAt && use.calls >= first.use.calls))) continue;
      first = { use, freeAt };
    }
    return first;
  }

  /** The group of the target that a line calls next if it is free from a time on. Removes planned groups, and those that have no more time. */
  #nextGroup(freeAt: number): TargetGroup | undefined {
    for (;;) {
      let next: TargetGroup | undefined;
      let nextAt = Number.POSITIVE_INFINITY;
      for (const [key, group] of this.#groups) {
        if (group.plannedCount === group.positions.length) {
          this.#groups.delete(key);
          continue;
        }
        const at = Math.max(freeAt, group.readyAt);
        if (at < nextAt || (at === nextAt && next && positionOf(group) < positionOf(next))) {
          next = group;
          nextAt = at;
        }
      }
      if (!next) return undefined;
      const at = nextTargetTime(this.#hours, next.zones, nextAt);
      if (at === nextAt) return next;
      if (at === undefined) next.plannedCount = next.positions.length;
      else next.readyAt = at;
    }
  }

  #freeAt({ instance, lines, lastDialAt }: InstanceUse): number {
    const lineFreeAt = Math.min(...lines);
    if (lastDialAt === undefined) return lineFreeAt;
    return Math.max(
      lineFreeAt,
      lastDialAt + paceDelayMs({ paceMs: instance.paceMs }, { sinceLastDialMs: 0, chance: 0 }),
    );
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

function positionOf({ positions, plannedCount }: TargetGroup): number {
  return positions[plannedCount] as number;
}
