import type { Call } from "../../domain/calls/call.ts";
import { type Limits, RECORDED_BYTES_PER_MS } from "../../domain/limits.ts";
import type { Logger } from "../../ports/logger.ts";
import type { Storage } from "../../ports/storage.ts";
import { byteBudgetOf } from "../user-limits/byte-budget.ts";

interface QuotaContext {
  readonly storage: Storage;
  readonly limits: Limits;
  readonly log: Logger;
}

type QuotaCall = Pick<Call, "userId" | "instanceId" | "isDemo">;

/** Remaining recording time of one call. */
export interface RecordingAllowance {
  /**
   * Uses `ms` of the remaining time; returns false, and uses none, if an owner of the call does not have that much
   * left. Called for each frame.
   */
  take(ms: number): boolean;
  /** Ends the recording with its call. @param isKept false if it was deleted */
  end(isKept: boolean): void;
}

/** Bytes stored for a user or a demo instance while their calls are being recorded. */
interface OwnerBytes {
  readonly owner: string;
  readonly limit: number;
  /** Size of the stored data as the storage counted it, plus the recordings that have ended since, bytes. */
  storedBytes: number;
  /** Size of the live recordings, bytes. */
  liveBytes: number;
  /** Number of live recordings. */
  recordings: number;
}

/**
 * Limits growing recordings to what remains of their owners' storage budgets: the storage counts a recording only once
 * its call has ended.
 */
export class RecordingQuota {
  readonly #owners = new Map<string, OwnerBytes>();

  /**
   * Starts to limit the recording of a call. Returns at once: until the storage has replied, and while it cannot be
   * read, only live recordings count.
   */
  begin(context: QuotaContext, { userId, instanceId, isDemo }: QuotaCall): RecordingAllowance {
    const { userBytes, demoBytes } = byteBudgetOf(context.limits);
    const owners = [this.#join(context, userId, userBytes)];
    if (isDemo) owners.push(this.#join(context, instanceId, demoBytes));
    let takenBytes = 0;
    return {
      take(ms) {
        const bytes = ms * RECORDED_BYTES_PER_MS;
        for (const { storedBytes, liveBytes, limit } of owners)
          if (storedBytes + liveBytes + bytes > limit) return false;
        for (const owner of owners) owner.liveBytes += bytes;
        takenBytes += bytes;
        return true;
      },
      end: (isKept) => {
        for (const owner of owners.splice(0)) this.#leave(owner, takenBytes, isKept);
      },
    };
  }

  #join({ storage, log }: QuotaContext, owner: string, limit: number): OwnerBytes {
    const usage = this.#owners.get(owner) ?? { owner, limit, storedBytes: 0, liveBytes: 0, recordings: 0 };
    this.#owners.set(owner, usage);
    usage.recordings++;
    storage.retention.storedBytes(owner).then(
      (bytes) => {
        usage.storedBytes = bytes;
      },
      (error: unknown) => log.warn({ owner, err: error }, "the stored bytes of a recording's owner cannot be read"),
    );
    return usage;
  }

  #leave(usage: OwnerBytes, takenBytes: number, isKept: boolean): void {
    usage.liveBytes -= takenBytes;
    if (isKept) usage.storedBytes += takenBytes;
    if (--usage.recordings === 0) this.#owners.delete(usage.owner);
  }
}
