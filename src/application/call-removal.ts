import type { Recordings } from "../ports/recordings.ts";
import type { RemovedCalls, Storage } from "../ports/storage.ts";
import type { Telephony } from "../ports/telephony.ts";

/** Everything that keeps something of a call. */
export interface CallKeepers {
  readonly storage: Storage;
  readonly recordings: Pick<Recordings, "forget">;
  readonly telephony: ReadonlyMap<string, Pick<Telephony, "forget">>;
}

/**
 * Deletes final calls with all that belongs to them. Recordings go first, whatever is known of them, so that no crash
 * leaves one behind whose call is gone.
 */
export async function removeCalls(
  { storage, recordings, telephony }: CallKeepers,
  ids: readonly string[],
): Promise<RemovedCalls> {
  await recordings.forget(ids);
  for (const network of telephony.values()) await network.forget?.(ids);
  return storage.calls.remove(ids);
}
