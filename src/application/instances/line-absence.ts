import type { Call } from "../../domain/call.ts";
import type { Context } from "../context.ts";

/** A time in which the line was not seen online. */
interface Absence {
  /** ms since 1970-01-01 UTC. */
  readonly from: number;
  readonly ms: number;
  /** The id of a call that would have been created when the absence was noticed. */
  readonly noticedAt: string;
}

/**
 * Notices that a line was not seen online for longer than a call may wait for it, although no timer of this process has
 * fired: the process was stopped, or the machine was suspended. A suspended machine may stop the monotonic clock, so the wall
 * clock counts as well, as it does for calls that wait while no process runs.
 */
export class LineAbsence {
  readonly #context: Pick<Context, "system" | "timings" | "ids">;
  /** When the line was last seen, or this process began to look, by both clocks, ms. */
  #seen: { readonly wall: number; readonly monotonic: number };
  #last: Absence | undefined;
  #isNoticed = false;

  constructor(context: Pick<Context, "system" | "timings" | "ids">) {
    this.#context = context;
    this.#seen = this.#now;
  }

  /** The line was found online. */
  seen(): void {
    this.#notice();
    this.#seen = this.#now;
    this.#isNoticed = false;
  }

  /** Why a call must not be dialled any more: it has waited all the time; undefined if it may be. */
  missedBy({ id, createdAt }: Pick<Call, "id" | "createdAt">): string | undefined {
    this.#notice();
    if (!this.#last) return undefined;
    const { from, ms, noticedAt } = this.#last;
    // By its id, a call from after that is known although the clock was set back.
    if (id > noticedAt || createdAt > from + this.#unseenMs) return undefined;
    return `the server or its clock stood still for ${Math.round(ms / 1_000)} s, longer than a call may wait`;
  }

  #notice(): void {
    const { timings, ids } = this.#context;
    const { wall, monotonic } = this.#now;
    const ms = Math.max(wall - this.#seen.wall, monotonic - this.#seen.monotonic);
    if (this.#isNoticed || ms <= timings.queueTimeoutMs + this.#unseenMs) return;
    this.#isNoticed = true;
    this.#last = { from: this.#seen.wall, ms, noticedAt: ids("call") };
  }

  /** How long ago the line of a process that runs may have been seen, ms: a probe takes up to an interval. */
  get #unseenMs(): number {
    return 2 * this.#context.timings.probeMs;
  }

  get #now(): { readonly wall: number; readonly monotonic: number } {
    const { system } = this.#context;
    return { wall: system.now(), monotonic: system.monotonic() };
  }
}
