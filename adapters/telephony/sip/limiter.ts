import type { System } from "../../../src/ports/system.ts";

/** Time for which a call may wait inside `dial` for its turn, ms; if it would wait longer, it returns to its queue. */
const MAX_TURN_WAIT_MS = 1_000;
/** Minimum wait before a call that found the trunk at its limit is retried, ms. */
const FULL_WAIT_MS = 1_000;
/**
 * Interval between retries by calls above the limit, ms, so that a thousand instances do not retry at the same time.
 */
const STAGGER_MS = 50;
/** Maximum wait for such a retry, ms. */
const MAX_FULL_WAIT_MS = 10_000;

/** The limits of a trunk. */
interface Limits {
  /** Maximum number of concurrent calls. */
  readonly maxCalls?: number | undefined;
  readonly callsPerSecond?: number | undefined;
}

/** Decision on whether a call may start. */
export type Admission =
  /** The attempt may start after `waitMs`. `release` frees its place; idempotent. */
  | { readonly admitted: true; readonly waitMs: number; release(): void }
  /** The reason, and the time until the next attempt, ms. */
  | { readonly admitted: false; readonly reason: string; readonly retryAfterMs: number };

/**
 * Decides which calls may start on a trunk: up to `maxCalls` at a time, up to `callsPerSecond`, none during a
 * Retry-After.
 *
 * Calls per second are spread evenly (ten per second are one every 100 ms). Each rejected call gets a separate time for
 * its next attempt.
 */
export class Limiter {
  readonly #system: System;
  readonly #limits: Limits;
  readonly #intervalMs: number;
  #admittedCount = 0;
  /** Time at which the next call may start; on the monotonic clock, like all times here. */
  #nextStart = 0;
  /** Time at which the last call with an assigned turn may start. */
  #lastAssigned = 0;
  /** Time of the latest retry assigned to a call that found the trunk at its limit. */
  #lastRetry = 0;
  #pausedUntil = 0;

  constructor(system: System, limits: Limits) {
    this.#system = system;
    this.#limits = limits;
    this.#intervalMs = limits.callsPerSecond === undefined ? 0 : 1_000 / limits.callsPerSecond;
  }

  /** Number of admitted calls. */
  get admitted(): number {
    return this.#admittedCount;
  }

  /** Admits no call for this long, after a Retry-After from the server. */
  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#system.monotonic() + ms);
  }

  /** Requests a place for a call. */
  admit(): Admission {
    const now = this.#system.monotonic();
    const { maxCalls } = this.#limits;
    if (now < this.#pausedUntil) {
      const retryAfterMs = Math.ceil(this.#pausedUntil - now);
      return rejected(`the server asked for no calls for another ${Math.ceil(retryAfterMs / 1_000)} s`, retryAfterMs);
    }
    if (maxCalls !== undefined && this.#admittedCount >= maxCalls) {
      this.#lastRetry = Math.min(now + MAX_FULL_WAIT_MS, Math.max(now + FULL_WAIT_MS, this.#lastRetry + STAGGER_MS));
      return rejected(`the trunk is at its limit of calls (maxCalls is ${maxCalls})`, this.#lastRetry - now);
    }
    const start = Math.max(now, this.#nextStart);
    if (start - now > MAX_TURN_WAIT_MS) {
      this.#lastAssigned = Math.max(start, this.#lastAssigned + this.#intervalMs);
      const { callsPerSecond } = this.#limits;
      return rejected(
        `the trunk is at its limit of calls per second (callsPerSecond is ${callsPerSecond})`,
        this.#lastAssigned - now,
      );
    }
    this.#nextStart = start + this.#intervalMs;
    this.#admittedCount++;
    return { admitted: true, waitMs: start - now, release: this.#createRelease() };
  }

  #createRelease(): () => void {
    let isHeld = true;
    return () => {
      if (isHeld) this.#admittedCount--;
      isHeld = false;
    };
  }
}

function rejected(reason: string, retryAfterMs: number): Admission {
  return { admitted: false, reason, retryAfterMs: Math.round(retryAfterMs) };
}
