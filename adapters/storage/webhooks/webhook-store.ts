import { setImmediate } from "node:timers/promises";
import type { Kysely } from "kysely";
import { type NumberedEvent, withoutPosition } from "../../../src/domain/events.ts";
import type { WebhookDelivery } from "../../../src/domain/webhooks/webhook.ts";
import type { DueDelivery, WebhookStore } from "../../../src/ports/storage.ts";
import { deleteOldest, deletePiece, inPieces, MAX_PIECE } from "../bounded-deletions.ts";
import { eventOf, lockPosition, SEQUENCE } from "../calls/event-store.ts";
import { preparedQuery, type Session, type Traits } from "../connected-database.ts";
import { countRows, pageById, readRecord, readRecords } from "../record-lists.ts";
import {
  type Database,
  IS_DELIVERED,
  IS_ENABLED,
  IS_FINISHED,
  IS_REQUESTED_AND_FINISHED,
} from "../tables/all-tables.ts";
import { RECORDS } from "../tables/stored-fields.ts";

/** A webhook, with the end of its user's log; null if that is empty. */
type EnabledRow = Database["webhooks"] & { readonly end: number | null };

/** Maximum number of webhooks per query. */
const PIECE = 500;

/** Some webhooks that are not disabled, by ascending id, with the end of their user's log. */
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
        // This locks the user's log until the commit, so that the next insertion counts this one.
        const position = await lockPosition(tx, webhook.userId);
        if ((await countRows(tx, "webhooks", (rows) => rows.where("user_id", "=", webhook.userId))) >= maxWebhooks)
          return undefined;
        await tx
          .insertInto("webhooks")
          .values(RECORDS.webhooks.row({ ...webhook, position }))
          .execute();
        return { ...webhook, position };
      }),
    get: (id) =>
      readRecord(session, RECORDS.webhooks, (db) => db.selectFrom("webhooks").selectAll().where("id", "=", id)),
    list: (userId, page) =>
      readRecords(session, RECORDS.webhooks, (db) =>
        pageById(db.selectFrom("webhooks").selectAll().where("user_id", "=", userId), page),
      ),
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

/** Deletes some of a webhook's deliveries, or the last ones together with the webhook. */
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

type DeliveryRow = Database["webhook_deliveries"];
type AttemptUpdate = Partial<DeliveryRow> & Pick<DeliveryRow, "id">;

/** Maximum number of rows per INSERT; both databases limit the parameters of one statement. */
const BATCH = 500;

const PENDING_DELIVERIES = preparedQuery(
  (db, { webhook_id, limit }: { readonly webhook_id: string; readonly limit: number }) =>
    db
      .selectFrom("webhook_deliveries")
      .selectAll()
      .where("webhook_id", "=", webhook_id)
      .where("next_attempt_at", "is not", null)
      .orderBy("next_attempt_at")
      .orderBy("id")
      .limit(limit),
);
const UPDATE_DELIVERY = preparedQuery((db, { id, ...columns }: AttemptUpdate) =>
  db.updateTable("webhook_deliveries").set(columns).where("id", "=", id).returning("id"),
);

/** The deliveries of webhooks. */
function deliveryStore(
  session: Session,
): Omit<WebhookStore, "insert" | "get" | "list" | "enabled" | "update" | "delete" | "behind" | "plan"> {
  return {
    insertDelivery: (delivery, maxPending) =>
      session.transaction(async (tx) => {
        if ((await countPendingRequests(tx, delivery.webhookId)) >= maxPending) return false;
        await deleteOldest(tx, session.traits, {
          table: "webhook_deliveries",
          maxRows: maxPending,
          rows: (query) => query.where("webhook_id", "=", delivery.webhookId).where(IS_REQUESTED_AND_FINISHED),
        });
        await insertRows(tx, [{ ...RECORDS.webhook_deliveries.row(delivery), requested: 1 }]);
        return true;
      }),
    async pending(webhookId, limit) {
      const rows = await session.query(PENDING_DELIVERIES, { webhook_id: webhookId, limit });
      return withEvents(session, rows);
    },
    attempted: (id, result) =>
      session.write(async (db) => {
        const [row] = await UPDATE_DELIVERY(db, {
          id,
          ...RECORDS.webhook_deliveries.changes(result),
        });
        return row !== undefined;
      }),
    deliveredSince: (webhookId, at) =>
      session.read(async (db) => {
        const row = await db
          .selectFrom("webhook_deliveries")
          .select("id")
          .where("webhook_id", "=", webhookId)
          .where(IS_DELIVERED)
          .where("last_attempt_at", ">=", at)
          .orderBy("last_attempt_at", "desc")
          .limit(1)
          .executeTakeFirst();
        return row !== undefined;
      }),
    getDelivery: (id) =>
      readRecord(session, RECORDS.webhook_deliveries, (db) =>
        db.selectFrom("webhook_deliveries").selectAll().where("id", "=", id),
      ),
    deliveries: (webhookId, { status }, page) =>
      readRecords(session, RECORDS.webhook_deliveries, (db) => {
        const deliveries = db.selectFrom("webhook_deliveries").selectAll().where("webhook_id", "=", webhookId);
        return pageById(status === undefined ? deliveries : deliveries.where("status", "=", status), page);
      }),
    forgetDeliveries: (createdBefore) =>
      inPieces((limit) =>
        session.transaction((tx) =>
          deletePiece(tx, session.traits, {
            table: "webhook_deliveries",
            limit,
            lockedRows: "skip",
            rows: (query) => query.where(IS_FINISHED).where("created_at", "<", createdBefore).orderBy("created_at"),
          }),
        ),
      ),
  };
}

/** Stores the deliveries of events. */
function insertDeliveries(tx: Kysely<Database>, deliveries: readonly WebhookDelivery[]): Promise<void> {
  return insertRows(
    tx,
    deliveries.map((delivery) => ({ ...RECORDS.webhook_deliveries.row(delivery), requested: null })),
  );
}

/** Number of a webhook's pending tests and replays. */
function countPendingRequests(tx: Kysely<Database>, webhookId: string): Promise<number> {
  return countRows(tx, "webhook_deliveries", (rows) =>
    rows.where("webhook_id", "=", webhookId).where("next_attempt_at", "is not", null).where("requested", "=", 1),
  );
}

async function insertRows(tx: Kysely<Database>, rows: readonly DeliveryRow[]): Promise<void> {
  for (let from = 0; from < rows.length; from += BATCH)
    await tx
      .insertInto("webhook_deliveries")
      .values(rows.slice(from, from + BATCH))
      .execute();
}

async function withEvents(session: Session, rows: readonly DeliveryRow[]): Promise<DueDelivery[]> {
  const ids = rows.filter(({ body }) => body === null).map(({ event_id }) => event_id);
  const events = ids.length === 0 ? [] : await session.read((db) => eventsOf(db, ids));
  return rows.map((row) => ({
    delivery: RECORDS.webhook_deliveries.record(row),
    event: events.find(({ id }) => id === row.event_id),
  }));
}

async function eventsOf(db: Kysely<Database>, ids: readonly string[]): Promise<NumberedEvent[]> {
  const rows = await db
    .selectFrom("events")
    .selectAll()
    .select(SEQUENCE.as("sequence"))
    .where("id", "in", ids)
    .execute();
  return rows.map((row) => withoutPosition(eventOf(row)));
}
