import type { Call } from "../../domain/calls/call.ts";
import type { Timings } from "../../domain/timings.ts";
import type { System } from "../../ports/system.ts";
import { storedTime } from "../stored-times.ts";

/**
 * The time of one call, ms since 1970-01-01 UTC: the wall clock when a process starts to handle the call, and from then
 * on the elapsed time. It never decreases and is never before the call's own times, whatever happens to the wall clock.
 */
export class CallClock {
  readonly #system: System;
  readonly #start: number;
  readonly #monotonicStart: number;

  constructor(system: System, call: Pick<Call, "createdAt" | "startedAt">) {
    this.#system = system;
    this.#start = clampToCallTimes(call, system.now());
    this.#monotonicStart = system.monotonic();
  }

  /** The time of the call now. */
  now(): number {
    return this.#start + Math.floor(this.#system.monotonic() - this.#monotonicStart);
  }
}

/** The later of `at` and the latest time that the call already has, ms since 1970-01-01 UTC. */
export function clampToCallTimes({ createdAt, startedAt }: Pick<Call, "createdAt" | "startedAt">, at: number): number {
  return Math.max(at, startedAt ?? createdAt, createdAt);
}

/** Maximum time that a call may wait in its queue, ms. */
export function queueTimeOf(
  { createdAt, expiresAt }: Pick<Call, "createdAt" | "expiresAt">,
  { queueTimeoutMs }: Pick<Timings, "queueTimeoutMs">,
): number {
  return expiresAt === undefined ? queueTimeoutMs : expiresAt - createdAt;
}

/** End of a call's time in its queue, ms since 1970-01-01 UTC. */
export function queueEndOf(
  call: Pick<Call, "createdAt" | "expiresAt">,
  timings: Pick<Timings, "queueTimeoutMs">,
  now: number,
): number {
  return storedTime("calls.created_at", call.createdAt, now) + queueTimeOf(call, timings);
}
