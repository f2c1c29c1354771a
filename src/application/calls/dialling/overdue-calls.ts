import type { Call } from "../../../domain/calls/call.ts";
import type { Timings } from "../../../domain/timings.ts";
import type { CallStore } from "../../../ports/storage.ts";
import type { System } from "../../../ports/system.ts";
import { type MAX_AHEAD_MS, storedTime } from "../../stored-times.ts";

/** Orders waiting calls by the end of their time in the queue. */
export interface QueueOrder {
  /** The earliest time of a waiting call. */
  earliest(): Promise<number | undefined>;
  /** Waiting calls, earliest first. */
  list(before: number, limit: number, after?: Call): Promise<Call[]>;
  timeOf(call: Call): number;
  readonly column: keyof typeof MAX_AHEAD_MS;
  /** Time from there to the end of the wait, ms. */
  readonly waitMs: number;
}

const BATCH_SIZE = 100;
/** Interval between checks of calls that wait only for the pace of a line, or for the calls before them, ms. */
const FULL_CHECK_MS = 60_000;

/** Orders calls without their own time limit, by creation. */
export function byAge(calls: CallStore, { queueTimeoutMs }: Pick<Timings, "queueTimeoutMs">): QueueOrder {
  return {
    earliest: () => calls.oldestWaiting(),
    list: (before, limit, after) => calls.waitingSince(before, limit, after, "unlimited"),
    timeOf: ({ createdAt }) => createdAt,
    column: "calls.created_at",
    waitMs: queueTimeoutMs,
  };
}

/** Orders calls with their own time limit, by its end. */
export function byExpiry(calls: CallStore): QueueOrder {
  return {
    earliest: async () => (await calls.expiring(Number.MAX_SAFE_INTEGER, 1))[0]?.expiresAt,
    list: (before, limit, after) => calls.expiring(before, limit, after),
    timeOf: ({ expiresAt = 0 }) => expiresAt,
    column: "calls.expires_at",
    waitMs: 0,
  };
}

/**
 * The waiting calls of one order whose time in the queue has ended. Calls that keep waiting are not read again each
 * time.
 */
export class OverdueCalls {
  readonly #system: System;
  readonly #order: QueueOrder;
  /** All overdue calls up to this call wait for a line that takes calls. */
  #lastChecked: Call | undefined;
  /** Time of the next check of all calls, on the monotonic clock, ms. */
  #fullCheckAt = 0;

  constructor(system: System, order: QueueOrder) {
    this.#system = system;
    this.#order = order;
  }

  /** True if overdue calls wait for a line that takes calls. */
  get hasRemaining(): boolean {
    return this.#lastChecked !== undefined;
  }

  /** Time of the next check of all calls, on the monotonic clock, ms. */
  get fullCheckAt(): number {
    return this.#fullCheckAt;
  }

  /** Makes the next check include the calls that kept waiting: they may have to fail now. */
  checkAll(): void {
    this.#lastChecked = undefined;
  }

  /** Considers a call that has started to wait. */
  add(call: Call): void {
    const last = this.#lastChecked;
    if (last && this.#order.timeOf(call) <= this.#order.timeOf(last)) this.checkAll();
  }

  /** Remaining time that a call may wait, on the wall clock, ms. */
  remainingMs(call: Call): number {
    return this.#remainingMs(this.#order.timeOf(call));
  }

  /** Time until the next call is overdue, on the wall clock, ms; undefined if no other call waits. */
  async msUntilNext(): Promise<number | undefined> {
    const last = this.#lastChecked;
    const [next] = last ? await this.#order.list(Number.MAX_SAFE_INTEGER, 1, last) : [];
    const time = last ? next && this.#order.timeOf(next) : await this.#order.earliest();
    return time === undefined ? undefined : this.#remainingMs(time);
  }

  /**
   * Fails overdue calls.
   * @param fail resolves with false if the call keeps waiting; it is not read again before the next full check
   */
  async expire(fail: (call: Call) => Promise<boolean>): Promise<void> {
    const system = this.#system;
    const before = system.now() - this.#order.waitMs;
    if (!this.#lastChecked || system.monotonic() >= this.#fullCheckAt) {
      this.#lastChecked = undefined;
      this.#fullCheckAt = system.monotonic() + FULL_CHECK_MS;
    }
    const lastCheckedBefore = this.#lastChecked;
    let last = lastCheckedBefore;
    let hasRemaining = lastCheckedBefore !== undefined;
    for (;;) {
      const batch = await this.#order.list(before, BATCH_SIZE, last);
      for (const call of batch) if (!(await fail(call))) hasRemaining = true;
      last = batch.at(-1) ?? last;
      if (batch.length < BATCH_SIZE) break;
    }
    // Unless a line went down in the meantime.
    if (this.#lastChecked === lastCheckedBefore) this.#lastChecked = hasRemaining ? last : undefined;
  }

  #remainingMs(time: number): number {
    const now = this.#system.now();
    return storedTime(this.#order.column, time, now) + this.#order.waitMs - now;
  }
}
