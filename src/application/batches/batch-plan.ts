import { nextTurn } from "../../base/turn-budget.ts";
import type { Batch, BatchTarget } from "../../domain/batches/batch.ts";
import { nextTargetTime, type TargetHours } from "../../domain/batches/target-time.ts";
import { paceDelayMs } from "../../domain/dialling-rules/pace.ts";
import type { InstancePlan, PlannedCall } from "./batch-use-cases.ts";

/** An instance in a plan. */
export interface PlannedInstance extends Omit<InstancePlan, "calls"> {
  /** Time from which it may dial, ms since 1970-01-01 UTC. */
  readonly freeAt: number;
}

/** Step to which the times of targets are rounded, so that they form few groups, ms. */
const STEP_MS = 10_000;

/** Number of calls planned in one turn of the event loop. */
const CALLS_PER_TURN = 50;

interface InstanceUse {
  readonly instance: PlannedInstance;
  /** Time from which each of its lines is free, ms since 1970-01-01 UTC. */
  readonly lines: number[];
  lastDialAt: number | undefined;
  calls: number;
}

/**
 * Waiting targets that share their time zones and may be called from about the same time, in the order of their
 * positions.
 */
interface TargetGroup {
  readonly zones: string;
  /** Time from which they may be called, ms since 1970-01-01 UTC; moved to their next calling hours if necessary. */
  readyAt: number;
  /** Positions of the targets. */
  readonly positions: number[];
  /** Phone numbers of the first targets, which the plan may list. */
  readonly phones: string[];
  /** Number of targets that already have a planned call. */
  plannedCount: number;
}

/**
 * Times of a batch's calls, if every call is answered at once and lasts `callMs`. As in the batch itself, a target
 * outside its calling hours does not block a line.
 */
export class CallTimes {
  readonly calls: PlannedCall[] = [];
  #startsAt: number | null = null;
  #endsAt: number | null = null;
  readonly #hours: TargetHours;
  readonly #callMs: number;
  readonly #maxCalls: number;
  readonly #maxConcurrent: number;
  /** End times of the planned calls that are still active at the latest dial, ms since 1970-01-01 UTC. */
  #endTimes: number[] = [];
  readonly #instances: InstanceUse[];
  readonly #groups = new Map<string, TargetGroup>();

  /** @param maxCalls maximum number of calls in `calls` */
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

  /** Adds a target. Targets are added in the order of their positions. @param from time from which it may be called */
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

  /** Plans a call for each added target, in several turns of the event loop. */
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
    if (this.#maxConcurrent < Number.POSITIVE_INFINITY) this.#endTimes.push(at + this.#callMs);
    this.#startsAt = Math.min(this.#startsAt ?? at, at);
    this.#endsAt = Math.max(this.#endsAt ?? 0, at + this.#callMs);
    if (phone !== undefined && this.calls.length < this.#maxCalls)
      this.calls.push({ position, phone, instanceId: use.instance.instanceId, at });
    return true;
  }

  /** The instance that may dial first, and when. */
  #nextFreeInstance(): { readonly use: InstanceUse; readonly freeAt: number } | undefined {
    let first: { use: InstanceUse; freeAt: number } | undefined;
    for (const use of this.#instances) {
      const freeAt = this.#freeAt(use);
      if (first && (freeAt > first.freeAt || (freeAt === first.freeAt && use.calls >= first.use.calls))) continue;
      first = { use, freeAt };
    }
    return first;
  }

  /**
   * The group of the next target for a line that is free from `freeAt` on. Removes groups that are fully planned or
   * have no more calling hours.
   */
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

  /** The first time, not before `at`, at which the batch's limit allows another call. */
  #withRoom(at: number): number {
    if (this.#maxConcurrent === Number.POSITIVE_INFINITY) return at;
    this.#endTimes = this.#endTimes.filter((end) => end > at);
    if (this.#endTimes.length < this.#maxConcurrent) return at;
    const sortedEnds = [...this.#endTimes].sort((a, b) => a - b);
    return sortedEnds[sortedEnds.length - this.#maxConcurrent] ?? at;
  }
}

function positionOf({ positions, plannedCount }: TargetGroup): number {
  return positions[plannedCount] as number;
}
