import { StorageUnavailable } from "../ports/storage.ts";
import type { Context } from "./context.ts";

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5_000;

/** Writes until the storage can take it: for facts that already happened and must not be lost. */
export async function insist<T>({ system, log }: Context, what: string, write: () => Promise<T>): Promise<T> {
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) throw error;
      log.warn({ err: error }, `the storage cannot take ${what}; trying again in ${wait} ms`);
      await new Promise<void>((resolve) => system.after(wait, resolve));
    }
  }
}
