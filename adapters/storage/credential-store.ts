import type { Kysely } from "kysely";
import type { InstanceStore } from "../../src/ports/storage.ts";
import type { Database } from "./schema.ts";
import type { Session } from "./session.ts";

/** The sealed credentials of linked numbers. Credentials of a missing or deleted instance are not saved. */
export function credentialStore(
  session: Session,
): Pick<InstanceStore, "saveCredentials" | "loadCredentials" | "hasSecrets" | "eraseCredentials"> {
  return {
    saveCredentials: (id, sealed) =>
      session.transaction(async (tx) => {
        if (await lockedInstance(tx, id, session.traits.rowLocks)) await writeCredentials(tx, id, sealed);
      }),
    loadCredentials: (id) =>
      session.read(async (db) => {
        const row = await db
          .selectFrom("credentials")
          .select("sealed")
          .where("instance_id", "=", id)
          .executeTakeFirst();
        return row && new Uint8Array(row.sealed); // pg returns a Buffer, a view into a larger one
      }),
    hasSecrets: (id) =>
      session.read(async (db) => {
        const some = await db
          .selectFrom("credentials")
          .select("instance_id")
          .where("instance_id", "=", id)
          .unionAll(({ selectFrom }) => selectFrom("line_records").select("instance_id").where("instance_id", "=", id))
          .limit(1)
          .executeTakeFirst();
        return some !== undefined;
      }),
    async eraseCredentials(id) {
      await session.transaction((tx) => eraseSecrets(tx, id));
    },
  };
}

/** Deletes all that a linked number has left: its credentials and the records of its line. */
export async function eraseSecrets(tx: Kysely<Database>, id: string): Promise<void> {
  await tx.deleteFrom("credentials").where("instance_id", "=", id).execute();
  await tx.deleteFrom("line_records").where("instance_id", "=", id).execute();
}

/** True if the instance is there and not deleted; it is not deleted before the transaction ends. */
export async function lockedInstance(tx: Kysely<Database>, id: string, rowLocks: boolean): Promise<boolean> {
  const instance = await tx
    .selectFrom("instances")
    .select("status")
    .where("id", "=", id)
    .$if(rowLocks, (query) => query.forNoKeyUpdate())
    .executeTakeFirst();
  return instance !== undefined && instance.status !== "DELETED";
}

/** Stores credentials in place of earlier ones. */
export async function writeCredentials(tx: Kysely<Database>, id: string, sealed: Uint8Array): Promise<void> {
  await tx
    .insertInto("credentials")
    .values({ instance_id: id, sealed })
    .onConflict((conflict) => conflict.column("instance_id").doUpdateSet({ sealed }))
    .execute();
}
