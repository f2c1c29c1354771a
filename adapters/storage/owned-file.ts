import type { Kysely } from "kysely";
import { realSystem } from "../../src/ports/system.ts";
import type { LockFile } from "./lock-file.ts";
import { type Database, WHOLE_DATABASE } from "./schema.ts";
import type { LockedOpening, ServerLock } from "./session.ts";

/** Time for a running server to notice that its lock file was deleted, and to end its calls, ms: it checks every second. */
const NOTICE_MS = 3_000;

/**
 * Makes the holder of a lock file the server of a SQLite database, which names the file. If it names another one, that
 * was deleted or replaced while its server may still be running: it gets time to notice.
 */
export async function ownedFile(lock: LockFile, { db, migrationDb, migrate }: LockedOpening): Promise<ServerLock> {
  try {
    const earlier = await ownerOf(db);
    if (earlier !== null && earlier !== lock.id)
      await new Promise<void>((noticed) => void realSystem.after(NOTICE_MS, noticed));
    lock.verify();
    await migrationDb.transaction().execute(async (tx) => {
      await migrate(tx);
      await tx
        .insertInto("owners")
        .values({ name: WHOLE_DATABASE, epoch: 1, owner: lock.id, expires_at: 0 })
        .onConflict((conflict) => conflict.column("name").doUpdateSet({ owner: lock.id }))
        .execute();
    });
  } catch (error) {
    lock.release();
    throw error;
  }
  return {
    verify: () => lock.verify(),
    async release() {
      // If the database is unavailable, or another server has taken it over, the next one waits a moment.
      await db
        .updateTable("owners")
        .set({ owner: null })
        .where("name", "=", WHOLE_DATABASE)
        .where("owner", "=", lock.id)
        .execute()
        .catch(() => {});
      lock.release();
    },
  };
}

/** The lock file of the last server; null if it has closed the database, or there was none. */
async function ownerOf(db: Kysely<Database>): Promise<string | null> {
  const row = await db
    .selectFrom("owners")
    .select("owner")
    .where("name", "=", WHOLE_DATABASE)
    .executeTakeFirst()
    .catch(() => undefined); // an older database has no such table
  return row?.owner ?? null;
}
