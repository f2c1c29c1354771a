import type { Kysely } from "kysely";
import type { InstanceStore } from "../../src/ports/storage.ts";
import { IS_LINK } from "./conditions.ts";
import { deletedRows } from "./deleted-rows.ts";
import { blankReceipts } from "./receipt-store.ts";
import type { Database } from "./schema.ts";
import type { Session } from "./session.ts";

/** Deletes old instances, and the link events of a number. */
export function instancePurge(session: Session): Pick<InstanceStore, "forgetPhone" | "purge"> {
  return {
    forgetPhone: (phone) =>
      session.write(async (db) =>
        deletedRows(
          await db
            .deleteFrom("events")
            .where(IS_LINK)
            .where("data", "like", `%"phone":${JSON.stringify(phone)}%`)
            .where(({ not, exists, selectFrom }) =>
              not(
                exists(
                  selectFrom("instances")
                    .select("instances.id")
                    .whereRef("instances.id", "=", "events.instance_id")
                    .where("instances.phone", "=", phone),
                ),
              ),
            )
            .executeTakeFirst(),
        ),
      ),
    purge: (erasedBefore, limit) => session.transaction((tx) => purgeInstances(tx, erasedBefore, limit)),
  };
}

/** Purges deleted instances, except those with calls. */
async function purgeInstances(tx: Kysely<Database>, erasedBefore: number, limit: number): Promise<string[]> {
  const old = await tx
    .selectFrom("instances")
    .select(["id", "user_id"])
    .where("erased_at", "<", erasedBefore)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("calls")
            .select("calls.id")
            .whereRef("calls.user_id", "=", "instances.user_id")
            .whereRef("calls.instance_id", "=", "instances.id"),
        ),
      ),
    )
    .orderBy("erased_at")
    .orderBy("id")
    .limit(limit)
    .execute();
  if (old.length > 0)
    await blankReceipts(
      tx,
      old.map(({ id }) => id),
    );
  for (const { id, user_id } of old) {
    await tx.deleteFrom("events").where("user_id", "=", user_id).where("instance_id", "=", id).execute();
    await tx.deleteFrom("finished_counts").where("instance_id", "=", id).execute();
    await tx.deleteFrom("instances").where("id", "=", id).execute();
  }
  return old.map(({ id }) => id);
}
