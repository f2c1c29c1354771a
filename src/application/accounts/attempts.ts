import { AccountRefusal } from "../../domain/access/account-refusal.ts";
import type { System } from "../../ports/system.ts";

/** Failures without a delay. */
const FREE = 5;
/** Delay after the next failure, ms; it doubles with each further one. */
const FIRST_DELAY_MS = 30_000;
const MAX_DELAY_MS = 15 * 60_000;
/** Failures are forgotten this long after the last one, ms. */
const KEPT_MS = 24 * 60 * 60_000;
/** Maximum number of names with failures, not counting those that wait. */
const MOST = 10_000;

interface Failures {
  readonly count: number;
  /** By the monotonic clock. */
  readonly lastAt: number;
}

/**
 * Slows down guessing: after five failures under one name, each attempt waits longer than the previous one. A name counts
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
    const entry = this.#byName.get(name);
    const before = entry && now - entry.lastAt < KEPT_MS ? entry : undefined;
    const count = before?.count ?? 0;
    const left = before ? waitAfter(before, now) : 0;
    if (left > 0)
      throw new AccountRefusal(
        "too_many_attempts",
        `too many failed attempts; try again in ${Math.ceil(left / 1_000)} s`,
        { retryAfterMs: Math.ceil(left) },
      );
    this.#byName.delete(name);
    this.#byName.set(name, { count: count + 1, lastAt: now });
    return {
      succeed: () => void this.#byName.delete(name),
      fail: () => {
        this.#makeRoom();
        return count + 1 === FREE;
      },
      withdraw: () => this.#withdraw(name, count + 1, before),
    };
  }

  /** Forgets the failures under a name. */
  forget(name: string): void {
    this.#byName.delete(name);
  }

  #withdraw(name: string, counted: number, before: Failures | undefined): void {
    const now = this.#byName.get(name);
    if (!now) return;
    // Others may have begun or been withdrawn in the meantime.
    const rest = now.count === counted ? before : { ...now, count: now.count - 1 };
    if (rest && rest.count > 0) this.#byName.set(name, rest);
    else this.#byName.delete(name);
  }

  /**
   * Forgets the name that failed longest ago, preferably without a delay. A name that waits is kept: otherwise other names
   * could free it. Those are few, because each has cost several hashes within minutes.
   */
  #makeRoom(): void {
    if (this.#byName.size <= MOST) return;
    const now = this.#system.monotonic();
    const forgotten =
      this.#oldest(({ count }) => count < FREE) ?? this.#oldest((failures) => waitAfter(failures, now) <= 0);
    if (forgotten !== undefined) this.#byName.delete(forgotten);
  }

  #oldest(matches: (failures: Failures) => boolean): string | undefined {
    for (const [name, failures] of this.#byName) if (matches(failures)) return name;
    return undefined;
  }
}

/** An attempt that has begun. */
interface Attempt {
  /** The password was right. */
  succeed(): void;
  /** The password was wrong. Returns true if the name has to wait now, for the first time. */
  fail(): boolean;
  /** No password was tried. */
  withdraw(): void;
}

/** Time a name still waits, ms; 0 or less if it does not. */
function waitAfter({ count, lastAt }: Failures, now: number): number {
  return lastAt + delayAfter(count) - now;
}

function delayAfter(failures: number): number {
  return failures < FREE ? 0 : Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (failures - FREE));
}
