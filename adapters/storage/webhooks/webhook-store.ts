import { setImmediate } from "node:timers/promises";
import type { Kysely } from "kysely";
import type { WebhookStore } from "../../../src/ports/storage.ts";
import { lockPosition } from "../calls/event-store.ts";
import { preparedQuery, type Session, type Traits } from "../database.ts";
import { deletePiece, MAX_PIECE } from "../deletions.ts";
import { RECORDS } from "../records.ts";
import { type Database, IS_ENABLED } from "../schema.ts";
import { deliveryStore, insertDeliveries } from "./webhook-delivery-store.ts";

/** A webhook, with the end of its user's log; null if that is empty. */
type EnabledRow = Database["webhooks"] & { readonly end: number | null };

/** Maximum number of webhooks per query. */
const PIECE = 500;

/** Some webhooks that are not disabled, by ascending id, with the end of the log of their user. */
const ENABLED_AFTER = preparedQuery((db, { after }: { readonly after: string }) =>
  db
    .selectFrom("webhooks")
    .selectAll()
    .select(({ selectFrom }) =>
      selectFrom("event_counters")
        .select("event_counters.position")
        .whereRef("event_counters.user_id", "=", "webhooks.user_id")
        .as("end"),
    )
    .where(IS_ENABLED)
    .where("id", ">", after)
    .orderBy("id")
    .limit(PIECE),
);

/** Webhooks and their deliveries. */
export function webhookStore(session: Session): WebhookStore {
  return {
    ...deliveryStore(session),
    insert: (webhook, maxWebhooks) =>
      session.transaction(async (tx) => {
        // This locks the user's log until the commit: the next insertion counts this one.
        const position = await lockPosition(tx, webhook.userId);
        if ((await countWebhooks(tx, webhook.userId)) >= maxWebhooks) return undefined;
        await tx
          .insertInto("webhooks")
          .values(RECORDS.webhooks.row({ ...webhook, position }))
          .execute();
        return { ...webhook, position };
      }),
    get: (id) =>
      session.read(async (db) => {
        const row = await db.selectFrom("webhooks").selectAll().where("id", "=", id).executeTakeFirst();
        return row && RECORDS.webhooks.record(row);
      }),
    list: (userId, { limit, after }) =>
      session.read(async (db) => {
        const rows = await db
          .selectFrom("webhooks")
          .selectAll()
          .where("user_id", "=", userId)
          .$if(after !== undefined, (query) => query.where("id", "<", after ?? ""))
          .orderBy("id", "desc")
          .$if(limit !== undefined, (query) => query.limit(limit ?? 0))
          .execute();
        return rows.map(RECORDS.webhooks.record);
      }),
    enabled: () => allEnabled(session, () => true).then((rows) => rows.map(RECORDS.webhooks.record)),
    update: (id, version, patch) =>
      session.transaction(async (tx) => {
        const columns = RECORDS.webhooks.changes(patch);
        if (patch.disabledReason === null) {
          const currentRow = await tx
            .selectFrom("webhooks")
            .select(["user_id", "disabled_reason"])
            .where("id", "=", id)
            .executeTakeFirst();
          if (currentRow && currentRow.disabled_reason !== null)
            columns.position = await lockPosition(tx, currentRow.user_id);
        }
        const row = await tx
          .updateTable("webhooks")
          .set((eb) => ({ ...columns, version: eb("version", "+", 1) }))
          .where("id", "=", id)
          .where("version", "=", version)
          .returningAll()
          .executeTakeFirst();
        return row && RECORDS.webhooks.record(row);
      }),
    async delete(id) {
      for (;;) {
        const result = await session.transaction((tx) => deleteBatch(tx, id, session.traits));
        if (result !== "more") return result === "deleted";
        await setImmediate();
      }
    },
    behind: () =>
      allEnabled(session, ({ end, position }) => (end ?? 0) > position).then((rows) => rows.map(({ id }) => id)),
    plan: (id, fromPosition, toPosition, deliveries) =>
      session.transaction(async (tx) => {
        const movedRow = await tx
          .updateTable("webhooks")
          .set({ position: toPosition })
          .where("id", "=", id)
          .where("position", "=", fromPosition)
          .where("disabled_reason", "is", null)
          .returning("id")
          .executeTakeFirst();
        if (!movedRow) return false;
        await insertDeliveries(tx, deliveries);
        return true;
      }),
  };
}

/** All webhooks that are not disabled and match the condition; other work continues between two pieces. */
async function allEnabled(session: Session, matches: (row: EnabledRow) => boolean): Promise<EnabledRow[]> {
  const enabledRows: EnabledRow[] = [];
  for (let after = ""; ; ) {
    const rows = await session.query(ENABLED_AFTER, { after });
    enabledRows.push(...rows.filter(matches));
    const last = rows.at(-1);
    if (!last || rows.length < PIECE) return enabledRows;
    after = last.id;
    await setImmediate();
  }
}

/** Deletes some deliveries of a webhook, or the last ones together with the webhook. */
async function deleteBatch(tx: Kysely<Database>, id: string, traits: Traits): Promise<"deleted" | "more" | "unknown"> {
  // Locked: no delivery is planned until the transaction ends.
  const webhook = await tx
    .selectFrom("webhooks")
    .select("id")
    .where("id", "=", id)
    .$if(traits.rowLocks, (query) => query.forUpdate())
    .executeTakeFirst();
  if (!webhook) return "unknown";
  const deliveries = await deletePiece(tx, traits, {
    table: "webhook_deliveries",
    limit: MAX_PIECE,
    rows: (query) => query.where("webhook_id", "=", id).orderBy("id"),
  });
  if (deliveries === MAX_PIECE) return "more";
  await tx.deleteFrom("webhooks").where("id", "=", id).execute();
  return "deleted";
}

async function countWebhooks(tx: Kysely<Database>, userId: string): Promise<number> {
  const { count } = await tx
    .selectFrom("webhooks")
    .select((eb) => eb.fn.countAll().as("count"))
    .where("user_id", "=", userId)
    .executeTakeFirstOrThrow();
  return Number(count);
}
