import { pause } from "../base/pause.ts";
import { LeaseLost, StorageUnavailable } from "../ports/storage.ts";
import type { Context } from "./context.ts";

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5_000;

/**
 * Writes until the storage can take it: for facts that already happened and must not be lost.
 * @throws {StorageUnavailable} the process ends and can wait no longer, or another one owns the database
 *   ({@link LeaseLost}); the next start settles what was not written
 */
export async function retryUntilStored<T>(
  { system, log, shutdownSignal }: Context,
  what: string,
  write: () => Promise<T>,
): Promise<T> {
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
    try {
      return await write();
    } catch (error) {
      const mayPass = error instanceof StorageUnavailable && !(error instanceof LeaseLost);
      if (!mayPass || shutdownSignal.aborted) throw error;
      log.warn({ err: error }, `storage unavailable; retrying ${what} in ${wait} ms`);
      await pause(system, wait, shutdownSignal);
    }
  }
}
