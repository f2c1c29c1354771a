import { existsSync } from "node:fs";
import type { RingportOptions } from "../../../src/options.ts";
import type { Storage } from "../../../src/ports/storage.ts";
import { DEFAULT_DATA, sqlitePath } from "../../defaults/data-folder.ts";
import { withFix } from "../storage-fault.ts";
import { UsageError } from "../usage-error.ts";

/**
 * Runs work on a server's storage; the server may be running.
 * @param mustExist true to fail if there is no database, instead of creating one
 */
export async function withStorage<T>(
  options: RingportOptions,
  { mustExist }: { mustExist: boolean },
  work: (storage: Storage) => Promise<T>,
): Promise<T> {
  if (mustExist && options.databaseUrl === undefined) existingDatabase(options.data);
  const { embeddedStorage } = await import("../../defaults/default-storage.ts");
  const storage = await embeddedStorage(options);
  await storage.open({ exclusive: false }).catch((error: unknown) => {
    throw withFix(error, options);
  });
  try {
    return await work(storage);
  } finally {
    await storage.close();
  }
}

/** Path of the server's SQLite file. @throws {UsageError} the file does not exist */
export function existingDatabase(data: string = DEFAULT_DATA): string {
  const path = sqlitePath(data);
  if (!existsSync(path))
    throw new UsageError(`there is no database ${path}; name the server's folder with --data or RINGPORT_DATA`);
  return path;
}
