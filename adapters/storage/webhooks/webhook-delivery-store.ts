import type { Kysely } from "kysely";
import { type NumberedEvent, withoutPosition } from "../../../src/domain/events.ts";
import type { WebhookDelivery } from "../../../src/domain/webhooks/webhook.ts";
import type { DueDelivery, WebhookStore } from "../../../src/ports/storage.ts";
import { eventOf, SEQUENCE } from "../calls/event-store.ts";
import { preparedQuery, type Session } from "../database.ts";
import { deleteOldest, deletePiece, inPieces } from "../deletions.ts";
import { RECORDS } from "../records.ts";
import { type Database, IS_DELIVERED, IS_FINISHED, IS_REQUESTED_AND_FINISHED } from "../schema.ts";

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
export function deliveryStore(
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
      session.read(async (db) => {
        const row = await db.selectFrom("webhook_deliveries").selectAll().where("id", "=", id).executeTakeFirst();
        return row && RECORDS.webhook_deliveries.record(row);
      }),
    deliveries: (webhookId, { status }, { limit, after }) =>
      session.read(async (db) => {
        const rows = await db
          .selectFrom("webhook_deliveries")
          .selectAll()
          .where("webhook_id", "=", webhookId)
          .$if(status !== undefined, (query) => query.where("status", "=", status ?? "pending"))
          .$if(after !== undefined, (query) => query.where("id", "<", after ?? ""))
          .orderBy("id", "desc")
          .$if(limit !== undefined, (query) => query.limit(limit ?? 0))
          .execute();
        return rows.map(RECORDS.webhook_deliveries.record);
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
export function insertDeliveries(tx: Kysely<Database>, deliveries: readonly WebhookDelivery[]): Promise<void> {
  return insertRows(
    tx,
    deliveries.map((delivery) => ({ ...RECORDS.webhook_deliveries.row(delivery), requested: null })),
  );
}

/** Tests and replays of a webhook that are pending. */
async function countPendingRequests(tx: Kysely<Database>, webhookId: string): Promise<number> {
  const { count } = await tx
    .selectFrom("webhook_deliveries")
    .select((eb) => eb.fn.countAll().as("count"))
    .where("webhook_id", "=", webhookId)
    .where("next_attempt_at", "is not", null)
    .where("requested", "=", 1)
    .executeTakeFirstOrThrow();
  return Number(count);
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
