import type { IdSource } from "../../../base/ids.ts";
import type { Call } from "../../../domain/calls/call.ts";
import type { Timings } from "../../../domain/timings.ts";
import type { System } from "../../../ports/system.ts";
import { queueTimeOf } from "../call-clock.ts";

interface ProcessPausesParts {
  readonly system: System;
  readonly timings: Timings;
  readonly ids: IdSource;
}

/** A period in which the process did not run. */
interface Gap {
  readonly ms: number;
  /** The id that a call created at the detection of the gap would have had. */
  readonly noticedAt: string;
}

/**
 * Detects that the process did not run for longer than a call may wait: it was stopped, or the machine was suspended. A
 * suspended machine may stop the monotonic clock, so the wall clock is checked as well, as for calls that wait while no
 * process runs. Both are read before each call is created, so that the call's id shows whether the call is from before
 * a gap, whatever the wall clock was set to. While calls wait, the probes of their lines read the clocks, and so
 * does the timer of the queues.
 */
export class ProcessPauses {
  readonly #parts: ProcessPausesParts;
  /** Both clocks when they were last read, ms. */
  #lastReading: { readonly wall: number; readonly monotonic: number };
  #lastGap: Gap | undefined;

  constructor(parts: ProcessPausesParts) {
    this.#parts = parts;
    this.#lastReading = this.#reading;
  }

  /** Restarts after an idle period of the process. */
  start(): void {
    this.#lastReading = this.#reading;
  }

  /** Reads the clocks. Called before a call gets its id, and whenever a line has been probed. */
  readClocks(): void {
    const { timings, ids } = this.#parts;
    const { wall, monotonic } = this.#reading;
    const ms = Math.max(wall - this.#lastReading.wall, monotonic - this.#lastReading.monotonic);
    this.#lastReading = { wall, monotonic };
    if (ms > timings.queueTimeoutMs + 2 * timings.probeMs) this.#lastGap = { ms, noticedAt: ids("call") };
  }

  /** The reason why a call that has waited through a gap must no longer be dialled; undefined if it may be. */
  staleReasonOf(call: Pick<Call, "id" | "createdAt" | "expiresAt">): string | undefined {
    this.readClocks();
    if (!this.#lastGap || call.id > this.#lastGap.noticedAt) return undefined;
    if (this.#lastGap.ms < queueTimeOf(call, this.#parts.timings)) return undefined;
    const seconds = Math.round(this.#lastGap.ms / 1_000);
    return `the server or its clock was stopped for ${seconds} s, longer than a call may wait`;
  }

  get #reading(): { readonly wall: number; readonly monotonic: number } {
    const { system } = this.#parts;
    return { wall: system.now(), monotonic: system.monotonic() };
  }
}
