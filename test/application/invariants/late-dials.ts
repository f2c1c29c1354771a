import { DEFAULT_TIMINGS } from "../../../src/domain/timings.ts";
import type { Attempt } from "./model-network.ts";
import { type Process, TIMINGS } from "./process.ts";
import type { Run } from "./run.ts";

/** Checks that a process that stalled for longer than a call may wait dials no call from before the stall. */
export class LateDials {
  readonly #run: Run;
  /** Calls that waited while a process stalled for too long. */
  readonly #expiredCalls = new Map<Process, Set<string>>();

  constructor(run: Run) {
    this.#run = run;
  }

  /** Called before a process stalls, with the duration, ms. */
  onSleep(process: Process, ms: number): void {
    if (ms <= TIMINGS.queueTimeoutMs + 2 * DEFAULT_TIMINGS.probeMs) return;
    const missedCalls = this.#expiredCalls.get(process) ?? new Set();
    for (const callId of this.#run.createdIds) missedCalls.add(callId);
    this.#expiredCalls.set(process, missedCalls);
  }

  /** Called with each dial. */
  onDial({ callId, process }: Attempt): void {
    const isMissed = this.#expiredCalls.get(process)?.has(callId) === true;
    this.#run.findings.expect("dialled-in-time", !isMissed, `${callId} was dialled`);
  }
}
