import { within } from "../../../base/timers.ts";
import { CALL_WINDOW_MS } from "../../../domain/calls/call-limits.ts";
import type { Timings } from "../../../domain/timings.ts";
import type { Recordings } from "../../../ports/recordings.ts";
import type { RemovedCalls, Storage } from "../../../ports/storage.ts";
import type { System } from "../../../ports/system.ts";
import type { Telephony } from "../../../ports/telephony.ts";
import type { PurgeClock } from "./purge-clock.ts";

/** Dependencies of {@link removeCalls}: everything that stores a part of a call. */
export interface RemovalContext {
  readonly storage: Storage;
  readonly recordings: Pick<Recordings, "forget">;
  readonly telephony: ReadonlyMap<string, Pick<Telephony, "forget">>;
  readonly system: System;
  readonly timings: Pick<Timings, "closeMs">;
  readonly purgeClock: Pick<PurgeClock, "ago">;
}

/**
 * Deletes ended calls with all of their records. Recordings are deleted first, so that a crash never leaves a recording
 * without its call.
 */
export async function removeCalls(
  { storage, recordings, telephony, system, timings, purgeClock }: RemovalContext,
  ids: readonly string[],
): Promise<RemovedCalls> {
  const forget = (subject: string, work: Promise<void> | undefined) => {
    const timeoutError = () => new Error(`${subject} did not delete its calls within ${timings.closeMs} ms`);
    return work && within(work, { system, ms: timings.closeMs, timeoutError });
  };
  await forget("the storage of recordings", recordings.forget(ids));
  for (const [name, network] of telephony) await forget(`telephony "${name}"`, network.forget?.(ids));
  return storage.calls.remove(ids, purgeClock.ago(CALL_WINDOW_MS));
}
