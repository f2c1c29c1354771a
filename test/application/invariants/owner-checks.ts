import { isActive } from "../../../src/domain/calls/call.ts";
import type { Attempt } from "./model-network.ts";
import type { Process } from "./process.ts";
import type { Run } from "./run.ts";

/** Time within which an owner settles its predecessor's work, if nothing fails, ms. */
const SETTLED_MS = 5_000;

/** Checks that the database has one owner: only the owner acts for it, and no work is left undone. */
export class OwnerChecks {
  readonly #run: Run;
  /** Calls that were on the line, or dialled, when the latest owner took the database. */
  #inheritedCalls: readonly string[] = [];
  #takenAt = 0;
  #lastFaultAt = 0;

  constructor(run: Run) {
    this.#run = run;
  }

  /** Called when a process becomes the owner, before it reads anything. */
  async onOwner(process: Process): Promise<void> {
    const { findings, clock } = this.#run;
    const liveLegs = legsOf(process).length;
    findings.expect(
      "starts-afresh",
      liveLegs === 0,
      `process ${process.number} has ${liveLegs} legs when it becomes owner`,
    );
    this.#takenAt = clock.monotonic();
    const calls = await this.#run.calls();
    this.#inheritedCalls = calls
      .filter(({ status, dialingAt }) => isActive(status) && (status !== "QUEUED" || dialingAt !== null))
      .map(({ id }) => id);
  }

  /** Called with each leg before it is added to its process. */
  onDial({ process, callId, instanceId }: Attempt): void {
    const { findings, processes } = this.#run;
    findings.expect("owner-acts", process.isOwner, `process ${process.number} dials ${callId}`);
    for (const other of processes) {
      if (other === process || other.system.isStopped) continue;
      const leg = legsOf(other).find((attempt) => attempt.instanceId === instanceId);
      findings.expect("one-at-a-time", !leg, () => {
        return `process ${process.number} dials ${callId} while process ${other.number} has a leg for ${leg?.callId}`;
      });
    }
  }

  /** Called with each outgoing frame. */
  onFrame({ process, callId }: Attempt): void {
    this.#run.findings.expect("owner-acts", process.isOwner, `process ${process.number} sends audio to ${callId}`);
  }

  /** @param isDisturbed true while something fails */
  async check(isDisturbed: boolean): Promise<void> {
    const { findings, clock, database } = this.#run;
    if (isDisturbed) this.#lastFaultAt = clock.monotonic();
    if (clock.monotonic() - Math.max(this.#lastFaultAt, this.#takenAt) < SETTLED_MS) return;
    for (const id of this.#inheritedCalls) {
      const call = await database.calls.get(id);
      const isSettled = call?.status === "FAILED" && call.outcome?.reason === "interrupted";
      findings.expect("left-is-interrupted", isSettled, `${id} is ${call?.status}/${call?.outcome?.reason}`);
    }
    this.#inheritedCalls = [];
  }
}

/** A process's legs that it has not hung up. */
function legsOf({ network }: Process): Attempt[] {
  return network.attempts.filter(({ leg }) => leg?.live && leg.hangUps === 0);
}
