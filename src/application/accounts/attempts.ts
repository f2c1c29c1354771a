import { AccountRefusal } from "../../domain/account-refusal.ts";
import type { System } from "../../ports/system.ts";

/** Failures without a delay. */
const FREE = 5;
/** Delay after the next one, ms; it doubles with each further failure. */
const FIRST_DELAY_MS = 30_000;
const LONGEST_DELAY_MS = 15 * 60_000;
/** Failures are forgotten this long after the last one, ms. */
const KEPT_MS = 24 * 60 * 60_000;
/** Most names with failures; the one that failed longest ago is forgotten first. */
const MOST = 10_000;

interface Failures {
  readonly count: number;
  /** By the monotonic clock. */
  readonly lastAt: number;
}

/**
 * Slows down guessing: after five failures under one name, each attempt waits longer than the one before. A name counts
 * whether or not an account has it, so that a refusal reveals nothing.
 */
export class Attempts {
  readonly #system: System;
  /** In the order of their last failure. */
  readonly #byName = new Map<string, Failures>();

  constructor(system: System) {
    this.#system = system;
  }

  /**
   * Begins an attempt. It counts as failed at once, so that many at the same time count too; `succeed` forgets all failures of
   * the name, and `withdraw` this one.
   * @throws {AccountRefusal} `too_many_attempts`
   */
  begin(name: string): Attempt {
    const now = this.#system.monotonic();
    const known = this.#byName.get(name);
    const before = known && now - known.lastAt < KEPT_MS ? known : undefined;
    const count = before?.count ?? 0;
    const left = before ? before.lastAt + delayAfter(count) - now : 0;
    if (left > 0)
      throw new AccountRefusal(
        "too_many_attempts",
        `too many failed attempts; try again in ${Math.ceil(left / 1_000)} s`,
        { retryAfterMs: Math.ceil(left) },
      );
    this.#store(name, { count: count + 1, lastAt: now });
    return {
      slowsDown: count + 1 === FREE,
      succeed: () => void this.#byName.delete(name),
      withdraw: () => {
        const now = this.#byName.get(name);
        if (now) this.#byName.set(name, before && now.count === count + 1 ? before : { ...now, count: now.count - 1 });
      },
    };
  }

  /** Forgets the failures under a name. */
  forget(name: string): void {
    this.#byName.delete(name);
  }

  #store(name: string, failures: Failures): void {
    this.#byName.delete(name);
    this.#byName.set(name, failures);
    if (this.#byName.size <= MOST) return;
    const [oldest = ""] = this.#byName.keys();
    this.#byName.delete(oldest);
  }
}

/** An attempt that has begun. */
export interface Attempt {
  /** If it fails, the next one has to wait for the first time. */
  readonly slowsDown: boolean;
  /** The password was right. */
  succeed(): void;
  /** Nothing was tried. */
  withdraw(): void;
}

function delayAfter(failures: number): number {
  return failures < FREE ? 0 : Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (failures - FREE));
}
