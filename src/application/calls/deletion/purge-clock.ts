import { idTime } from "../../../base/ids.ts";
import type { Logger } from "../../../ports/logger.ts";
import type { Storage, TrustedTime } from "../../../ports/storage.ts";
import type { System } from "../../../ports/system.ts";

const DAY_MS = 24 * 60 * 60_000;
/** Longest age that {@link PurgeClock.ago} measures, ms. */
const MAX_AGE_MS = DAY_MS;
/** Maximum lead of the wall clock over the elapsed time within a day, ms. */
const SLACK_MS = 60 * 60_000;

/** A wall-clock reading ahead of the elapsed time. */
interface Claim {
  /** ms since 1970-01-01 UTC. */
  readonly at: number;
  /** Uptime of earlier processes since then, ms. */
  readonly waitedMs: number;
  /** Time at which this process began to count, on the monotonic clock, ms. */
  readonly countedFrom: number;
}

/** A step of this clock to a later time. Records from before it look older than they are by `ms`. */
interface Step {
  readonly ms: number;
  /** Uptime of earlier processes since then, ms. */
  readonly waitedMs: number;
  /** Time at which this process began to count, on the monotonic clock, ms. */
  readonly countedFrom: number;
}

/**
 * The clock by which records are purged. It follows the wall clock, but never trusts one jump forward: a reading ahead
 * of the elapsed time is used only after another day of uptime. A clock that is set back is followed at once, because
 * then less is purged.
 */
export class PurgeClock {
  readonly #system: System;
  readonly #storage: Storage;
  readonly #log: Logger;
  /** A trusted time (ms since 1970-01-01 UTC), and the same moment on the monotonic clock, ms. */
  #trustedTime: { readonly at: number; readonly monotonic: number };
  #claim: Claim | undefined;
  /** The last step, while records from before it matter. */
  #step: Step | undefined;

  constructor(system: System, storage: Storage, log: Logger) {
    this.#system = system;
    this.#storage = storage;
    this.#log = log;
    this.#trustedTime = { at: system.now(), monotonic: system.monotonic() };
  }

  /**
   * Continues from the saved time; if there is none, from the newest id in the storage, or else from the wall clock.
   */
  async start(): Promise<void> {
    const savedTime = (await this.#storage.retention.trustedTime()) ?? (await this.#initialTime());
    const monotonic = this.#system.monotonic();
    this.#trustedTime = { at: savedTime.at, monotonic };
    this.#claim = savedTime.claim ? { ...savedTime.claim, countedFrom: monotonic } : undefined;
    this.#step = savedTime.step ? { ...savedTime.step, countedFrom: monotonic } : undefined;
  }

  /** ms since 1970-01-01 UTC. */
  now(): number {
    const wallTime = this.#system.now();
    const monotonic = this.#system.monotonic();
    const elapsedMs = monotonic - this.#trustedTime.monotonic;
    const expectedTime = this.#trustedTime.at + Math.floor(elapsedMs);
    if (wallTime <= expectedTime + SLACK_MS) {
      this.#claim = undefined;
      // Otherwise every call would add the slack again.
      if (wallTime < expectedTime || elapsedMs >= DAY_MS) this.#trustedTime = { at: wallTime, monotonic };
      return wallTime;
    }
    const claim = this.#claimOf(wallTime, expectedTime);
    const waitedMs = waitedMsOf(claim, monotonic);
    if (waitedMs < DAY_MS) return expectedTime;
    const at = claim.at + waitedMs;
    this.#step = { ms: at - expectedTime + this.#stepMs(MAX_AGE_MS), waitedMs: 0, countedFrom: monotonic };
    this.#trustedTime = { at, monotonic };
    this.#claim = undefined;
    return this.now();
  }

  /**
   * The time before which a record is older than `ms`, if its time was read from this clock; ms since 1970-01-01 UTC.
   * Steps of this clock make no record older.
   * @param ms age, at most a day
   */
  ago(ms: number): number {
    if (ms > MAX_AGE_MS) throw new RangeError(`an age is ${ms} ms: it must be at most ${MAX_AGE_MS} ms`);
    const now = this.now(); // it may take a step
    return now - ms - this.#stepMs(ms);
  }

  /** Amount by which records of this age look too old, ms. */
  #stepMs(ageMs: number): number {
    return this.#step && waitedMsOf(this.#step, this.#system.monotonic()) < ageMs ? this.#step.ms : 0;
  }

  /** Saves the time for the next process. */
  async save(): Promise<void> {
    const at = this.now();
    const monotonic = this.#system.monotonic();
    const claim = this.#claim && { at: this.#claim.at, waitedMs: waitedMsOf(this.#claim, monotonic) };
    const step = this.#stepMs(MAX_AGE_MS) > 0 && this.#step;
    await this.#storage.retention.saveTrustedTime({
      at,
      claim: claim ?? null,
      ...(step && { step: { ms: step.ms, waitedMs: waitedMsOf(step, monotonic) } }),
    });
  }

  /** The pending claim; a new claim if there is none, or if the wall clock was set back before it. */
  #claimOf(wallTime: number, expected: number): Claim {
    const monotonic = this.#system.monotonic();
    if (this.#claim && wallTime >= this.#claim.at + waitedMsOf(this.#claim, monotonic) - SLACK_MS) return this.#claim;
    this.#claim = { at: wallTime, waitedMs: 0, countedFrom: monotonic };
    this.#log.warn(
      { wall_clock: iso(wallTime), expected: iso(expected), ahead_ms: wallTime - expected },
      "the wall clock is ahead of the elapsed time; purges follow it after a day of uptime",
    );
    return this.#claim;
  }

  async #initialTime(): Promise<TrustedTime> {
    const newestId = await this.#storage.events.newestId();
    const newestAt = newestId === undefined ? undefined : idTime(newestId);
    return { at: Math.min(newestAt ?? Infinity, this.#system.now()), claim: null };
  }
}

function waitedMsOf({ waitedMs, countedFrom }: Pick<Claim, "waitedMs" | "countedFrom">, monotonic: number): number {
  return waitedMs + Math.floor(monotonic - countedFrom);
}

/** The latest time that a Date can hold, ms. */
const MAX_DATE_MS = 8.64e15;

function iso(ms: number): string {
  return new Date(Math.max(-MAX_DATE_MS, Math.min(ms, MAX_DATE_MS))).toISOString();
}
