import type { System } from "../../../src/ports/system.ts";

/** A call waits so long inside `dial` for its turn; if it takes longer, it waits in its queue instead. */
const SHORT_WAIT_MS = 1_000;
/** Whoever found every place taken asks again after this at the earliest … */
const FULL_WAIT_MS = 1_000;
/** … the next one so much later, so that a thousand instances do not come back in one moment … */
const STAGGER_MS = 50;
/** … and nobody later than this. */
const LONGEST_FULL_WAIT_MS = 10_000;

/** What a trunk allows. */
export interface Limits {
  /** Most calls at a time. */
  readonly maxCalls?: number | undefined;
  readonly callsPerSecond?: number | undefined;
}

/** A call may start, or may not yet. */
export type Admission =
  /** After `waitMs`; `leave` gives the place back: idempotent. */
  | { readonly admitted: true; readonly waitMs: number; leave(): void }
  /** A sentence, and when it is worth asking again, ms. */
  | { readonly admitted: false; readonly reason: string; readonly retryAfterMs: number };

/**
 * Decides which calls may start on a trunk: up to N at a time, up to N per second, none while the server rests.
 *
 * Calls per second are spread evenly (ten per second are one every 100 ms). A call that is turned away gets a time of
 * its own to come back.
 */
export class Limiter {
  readonly #system: System;
  readonly #limits: Limits;
  readonly #intervalMs: number;
  #live = 0;
  /** When the next call may start; on the monotonic clock, as all times here. */
  #nextStart = 0;
  /** When the last call with an assigned turn may start. */
  #promised = 0;
  /** When the last of those who found every place taken comes back. */
  #nextFull = 0;
  #restsUntil = 0;

  constructor(system: System, limits: Limits) {
    this.#system = system;
    this.#limits = limits;
    this.#intervalMs = limits.callsPerSecond === undefined ? 0 : 1_000 / limits.callsPerSecond;
  }

  /** How many calls have a place. */
  get live(): number {
    return this.#live;
  }

  /** The server asked to be left alone for so long (Retry-After). */
  rest(ms: number): void {
    this.#restsUntil = Math.max(this.#restsUntil, this.#system.monotonic() + ms);
  }

  /** Asks for a place. */
  admit(): Admission {
    const now = this.#system.monotonic();
    const { maxCalls } = this.#limits;
    if (now < this.#restsUntil) {
      const retryAfterMs = Math.ceil(this.#restsUntil - now);
      return turnedAway(`the server asked for no calls for another ${Math.ceil(retryAfterMs / 1_000)} s`, retryAfterMs);
    }
    if (maxCalls !== undefined && this.#live >= maxCalls) {
      this.#nextFull = Math.min(now + LONGEST_FULL_WAIT_MS, Math.max(now + FULL_WAIT_MS, this.#nextFull + STAGGER_MS));
      return turnedAway(`the trunk has no more calls to give (maxCalls is ${maxCalls})`, this.#nextFull - now);
    }
    const start = Math.max(now, this.#nextStart);
    if (start - now > SHORT_WAIT_MS) {
      this.#promised = Math.max(start, this.#promised + this.#intervalMs);
      const { callsPerSecond } = this.#limits;
      return turnedAway(`the trunk takes ${callsPerSecond} calls per second`, this.#promised - now);
    }
    this.#nextStart = start + this.#intervalMs;
    this.#live++;
    return { admitted: true, waitMs: start - now, leave: this.#place() };
  }

  #place(): () => void {
    let taken = true;
    return () => {
      if (taken) this.#live--;
      taken = false;
    };
  }
}

function turnedAway(reason: string, retryAfterMs: number): Admission {
  return { admitted: false, reason, retryAfterMs: Math.round(retryAfterMs) };
}
