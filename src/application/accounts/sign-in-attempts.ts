import { AccountRefusal } from "../../domain/access/account-refusal.ts";
import type { System } from "../../ports/system.ts";

/** Number of failures before the first delay. */
const FREE_FAILURES = 5;
/** First delay, ms; it doubles with each further failure. */
const FIRST_DELAY_MS = 30_000;
const MAX_DELAY_MS = 15 * 60_000;
/** Time after the latest failure until all failures are forgotten, ms. */
const RETENTION_MS = 24 * 60 * 60_000;
/** Maximum number of names with failures, not counting delayed names. */
const MAX_NAMES = 10_000;

interface Failures {
  readonly count: number;
  /** Time of the last failure, on the monotonic clock. */
  readonly lastAt: number;
}

/**
 * Slows down guessing: after five failures under one name, each attempt waits longer than the previous one. Failures
 * are counted whether or not an account has the name, so that a refusal reveals nothing.
 */
export class SignInAttempts {
  readonly #system: System;
  /** Failures by name, in the order of the last failure. */
  readonly #byName = new Map<string, Failures>();

  constructor(system: System) {
    this.#system = system;
  }

  /**
   * Begins an attempt. It is recorded as failed at once, so that concurrent attempts are limited too; `succeed` forgets
   * all failures of the name, and `withdraw` only this one.
   * @throws {AccountRefusal} `too_many_attempts`
   */
  begin(name: string): Attempt {
    const now = this.#system.monotonic();
    const entry = this.#byName.get(name);
    const previous = entry && now - entry.lastAt < RETENTION_MS ? entry : undefined;
    const count = previous?.count ?? 0;
    const waitMs = previous ? waitAfter(previous, now) : 0;
    if (waitMs > 0)
      throw new AccountRefusal(
        "too_many_attempts",
        `too many failed attempts; try again in ${Math.ceil(waitMs / 1_000)} s`,
        { retryAfterMs: Math.ceil(waitMs) },
      );
    this.#byName.delete(name);
    this.#byName.set(name, { count: count + 1, lastAt: now });
    return {
      succeed: () => void this.#byName.delete(name),
      fail: () => {
        this.#makeRoom();
        return count + 1 === FREE_FAILURES;
      },
      withdraw: () => this.#withdraw(name, count + 1, previous),
    };
  }

  /** Forgets the failures under a name. */
  forget(name: string): void {
    this.#byName.delete(name);
  }

  #withdraw(name: string, ownCount: number, previous: Failures | undefined): void {
    const current = this.#byName.get(name);
    if (!current) return;
    // Other attempts may have begun or been withdrawn in the meantime.
    const remaining = current.count === ownCount ? previous : { ...current, count: current.count - 1 };
    if (remaining && remaining.count > 0) this.#byName.set(name, remaining);
    else this.#byName.delete(name);
  }

  /**
   * Forgets the name that failed longest ago, preferably one without a delay. A name with a delay is kept, so that
   * attempts under other names cannot evict it. Such names are few, because each has cost several hashes within
   * minutes.
   */
  #makeRoom(): void {
    if (this.#byName.size <= MAX_NAMES) return;
    const now = this.#system.monotonic();
    const evictedName =
      this.#oldestKey(({ count }) => count < FREE_FAILURES) ??
      this.#oldestKey((failures) => waitAfter(failures, now) <= 0);
    if (evictedName !== undefined) this.#byName.delete(evictedName);
  }

  #oldestKey(matches: (failures: Failures) => boolean): string | undefined {
    for (const [name, failures] of this.#byName) if (matches(failures)) return name;
    return undefined;
  }
}

/** An attempt that has begun. */
interface Attempt {
  /** Records that the password was right. */
  succeed(): void;
  /** Records that the password was wrong. Returns true if this failure is the first that causes a delay. */
  fail(): boolean;
  /** Records that no password was tried. */
  withdraw(): void;
}

/** Remaining wait of a name, ms; 0 or less if it need not wait. */
function waitAfter({ count, lastAt }: Failures, now: number): number {
  return lastAt + delayAfter(count) - now;
}

function delayAfter(failures: number): number {
  return failures < FREE_FAILURES ? 0 : Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (failures - FREE_FAILURES));
}
