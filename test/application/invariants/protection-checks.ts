import { isWithin, localTime } from "../../../src/domain/dialling-rules/calling-hours.ts";
import { DAY_MS, warmUpLimit } from "../../../src/domain/dialling-rules/warm-up.ts";
import { zonesOfNumber } from "../../../src/domain/numbers/number-zones.ts";
import { ALICE, NUMBER } from "../../support/application.ts";
import type { Attempt } from "./model-network.ts";
import type { Run } from "./run.ts";

/** Checks number protection whenever the network is asked to place a call. */
export class ProtectionChecks {
  readonly #run: Run;
  /** Earliest time of a link, ms since 1970-01-01 UTC. */
  readonly #startedAt: number;
  /** True if the number that all calls go to is recorded as one that must not be called. */
  #isForbidden = false;
  /** Calls claimed while the number was forbidden, if it still is. */
  readonly #forbiddenAtClaim = new Set<string>();
  /** Dial time that each call's last claim was to store, ms since 1970-01-01 UTC. */
  readonly #claimedAt = new Map<string, number>();

  constructor(run: Run) {
    this.#run = run;
    this.#startedAt = run.clock.now();
  }

  /** Records the number as one that must not be called, or removes that record. */
  async toggle(): Promise<void> {
    const { consents } = this.#run.database;
    const [userId, at] = [ALICE.userId, 0];
    this.#isForbidden = !this.#isForbidden;
    this.#forbiddenAtClaim.clear();
    if (this.#isForbidden)
      await consents.put({ userId, phone: NUMBER, status: "do_not_call", source: null, createdAt: at, updatedAt: at });
    else await consents.delete(userId, NUMBER);
  }

  /** Called before each claim. @param at time of the dial in the call's record, ms since 1970-01-01 UTC */
  onClaim(callId: string, at: number): void {
    this.#claimedAt.set(callId, at);
    if (this.#isForbidden) this.#forbiddenAtClaim.add(callId);
    else this.#forbiddenAtClaim.delete(callId);
  }

  /** Called with each dial, which is already among the attempts. */
  onDial({ callId, instanceId, to, process, life, askedAt }: Attempt): void {
    const { findings, policy, attempts } = this.#run;
    const expectThat = (holds: boolean, detail: string) =>
      findings.expect("protected", holds, `${callId} was ${detail}`);
    const isForbidden = to === NUMBER && this.#forbiddenAtClaim.has(callId);
    expectThat(!isForbidden, "dialled although its number must not be called");
    const otherAttempts = attempts.filter((other) => other.instanceId === instanceId && other.callId !== callId);
    const previous = otherAttempts.filter((other) => other.process === process && other.life === life).at(-1);
    const { paceMs = 0, warmUp, callingHours } = policy;
    if (previous)
      expectThat(
        askedAt - previous.askedAt >= paceMs,
        `dialled ${askedAt - previous.askedAt} ms after ${previous.callId}`,
      );
    const now = process.system.now();
    // Two processes' wall clocks differ by no more than a run's jumps. A clock that is set between a claim and its dial
    // leaves the claim's time in the record.
    const isOfDay = ({ isReturned, callId }: Attempt): boolean =>
      !isReturned && Math.abs(now - (this.#claimedAt.get(callId) ?? 0)) < DAY_MS / 2;
    const dialsOfDay = otherAttempts.filter(isOfDay).length + 1;
    // A clock that has been set ahead ends the warm-up.
    const day = Math.max(0, Math.floor((now - this.#startedAt) / DAY_MS));
    if (warmUp) expectThat(dialsOfDay <= warmUpLimit(warmUp, day), `dialled as number ${dialsOfDay} of 24 hours`);
    const isLate = process.system.stoppedMs > 0; // it may have continued long after it last read the clock
    if (callingHours && !isLate)
      for (const zone of zonesOfNumber(NUMBER))
        expectThat(isWithin(callingHours, localTime(zone, now)), `dialled at ${new Date(now).toISOString()}`);
  }
}
