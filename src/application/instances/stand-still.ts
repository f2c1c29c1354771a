import type { Call } from "../../domain/call.ts";
import type { Context } from "../context.ts";

/** A time in which the line was not probed. */
interface Gap {
  /** ms since 1970-01-01 UTC. */
  readonly from: number;
  readonly ms: number;
  /** The id of a call that would have been created when the gap was noticed. */
  readonly noticedAt: string;
}

/**
 * Notices that a line was not probed for longer than a call may wait: the process was stopped, or the machine was suspended.
 * A suspended machine may stop the monotonic clock, so the wall clock counts as well, as it does for calls that wait while no
 * process runs.
 */
export class StandStill {
  readonly #context: Pick<Context, "system" | "timings" | "ids">;
  /** When the line was last probed, or this process began with it, by both clocks, ms. */
  #probed: { readonly wall: number; readonly monotonic: number };
  #last: Gap | undefined;
  #isNoticed = false;

  constructor(context: Pick<Context, "system" | "timings" | "ids">) {
    this.#context = context;
    this.#probed = this.#now;
  }

  /** The line was probed, whatever was found. */
  probed(): void {
    this.#notice();
    this.#probed = this.#now;
    this.#isNoticed = false;
  }

  /** Why a call must not be dialled any more: it has waited all the time; undefined if it may be. */
  missedBy({ id, createdAt }: Pick<Call, "id" | "createdAt">): string | undefined {
    this.#notice();
    if (!this.#last) return undefined;
    const { from, ms, noticedAt } = this.#last;
    // By its id, a call from after that is known although the clock was set back.
    if (id > noticedAt || createdAt > from + this.#usualMs) return undefined;
    return `the server or its clock stood still for ${Math.round(ms / 1_000)} s, longer than a call may wait`;
  }

  #notice(): void {
    const { timings, ids } = this.#context;
    const { wall, monotonic } = this.#now;
    const ms = Math.max(wall - this.#probed.wall, monotonic - this.#probed.monotonic);
    if (this.#isNoticed || ms <= timings.queueTimeoutMs + this.#usualMs) return;
    this.#isNoticed = true;
    this.#last = { from: this.#probed.wall, ms, noticedAt: ids("call") };
  }

  /** How long ago the last probe of a process that runs may have been answered, ms: an answer takes up to an interval. */
  get #usualMs(): number {
    return 2 * this.#context.timings.probeMs;
  }

  get #now(): { readonly wall: number; readonly monotonic: number } {
    const { system } = this.#context;
    return { wall: system.now(), monotonic: system.monotonic() };
  }
}
