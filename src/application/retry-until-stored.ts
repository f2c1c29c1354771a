import { pause } from "../base/timers.ts";
import type { Logger } from "../ports/logger.ts";
import { LeaseLost, StorageUnavailable } from "../ports/storage.ts";
import type { System } from "../ports/system.ts";

const FIRST_WAIT_MS = 100;
const MAX_WAIT_MS = 5_000;

/** Dependencies of {@link retryUntilStored}. */
export interface RetryParts {
  readonly system: System;
  readonly log: Logger;
  /** Aborted when the process must end even if the storage is unavailable. */
  readonly shutdownSignal: AbortSignal;
}

/**
 * Repeats a write until the storage accepts it: for facts that must not be lost.
 * @throws {StorageUnavailable} the process ends and can wait no longer, or another one owns the database
 *   ({@link LeaseLost}); the next start settles the missing writes
 */
export async function retryUntilStored<T>(
  { system, log, shutdownSignal }: RetryParts,
  subject: string,
  write: () => Promise<T>,
): Promise<T> {
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)) {
    try {
      return await write();
    } catch (error) {
      const isRetryable = error instanceof StorageUnavailable && !(error instanceof LeaseLost);
      if (!isRetryable || shutdownSignal.aborted) throw error;
      log.warn({ err: error }, `storage unavailable; retrying ${subject} in ${waitMs} ms`);
      await pause(system, waitMs, shutdownSignal);
    }
  }
}
