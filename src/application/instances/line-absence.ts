import type { Call } from "../../domain/call.ts";
import type { Context } from "../context.ts";

/** A time in which nobody knew whether the line was online, ms since 1970-01-01 UTC. */
interface Absence {
  readonly from: number;
  readonly ms: number;
}

/**
 * Notices that a line was not seen for longer than a call may wait for it, although no timer of this process has fired:
 * the process was stopped, or the machine was suspended. A suspended machine may stop the monotonic clock, so the wall clock
 * counts as well, as it does for calls that wait while no process runs.
 */
export class LineAbsence {
  readonly #context: Pick<Context, "system" | "timings">;
  /** When the line was last seen, by both clocks, ms. */
  #seen: { readonly wall: number; readonly monotonic: number } | undefined;
  #last: Absence | undefined;

  constructor(context: Pick<Context, "system" | "timings">) {
    this.#context = context;
  }

  /** The line was found online. */
  seen(): void {
    this.#last = this.#current() ?? this.#last;
    const { system } = this.#context;
    this.#seen = { wall: system.now(), monotonic: system.monotonic() };
  }

  /** Why a call must not be dialled any more: it has waited all the time; undefined if it may be. */
  missedBy({ createdAt }: Pick<Call, "createdAt">): string | undefined {
    const absence = this.#current() ?? this.#last;
    // Nobody creates a call while the process is stopped: it is of before or of after that.
    if (!absence || createdAt > absence.from + absence.ms / 2) return undefined;
    return `the server or its clock stood still for ${Math.round(absence.ms / 1_000)} s, longer than a call may wait`;
  }

  #current(): Absence | undefined {
    const { system, timings } = this.#context;
    if (!this.#seen) return undefined;
    const { wall, monotonic } = this.#seen;
    const ms = Math.max(system.now() - wall, system.monotonic() - monotonic);
    // The last probe may be almost two intervals old.
    return ms > timings.queueTimeoutMs + 2 * timings.probeMs ? { from: wall, ms } : undefined;
  }
}
