import { setImmediate } from "node:timers/promises";
import type { ExpressionBuilder, Kysely, SelectQueryBuilder } from "kysely";
import { CodedError } from "../../../src/base/error.ts";
import type { Instance } from "../../../src/domain/instances/instance.ts";
import type { InstanceStore, Page } from "../../../src/ports/storage.ts";
import { deletePiece, inPieces, MAX_PIECE } from "../bounded-deletions.ts";
import { insertEvents } from "../calls/event-store.ts";
import { blankReceipts, insertReceipt, KeyTaken } from "../calls/receipt-store.ts";
import { preparedQuery, type Session, type Traits } from "../connected-database.ts";
import { follows, pageById, positionAfter, readRecords } from "../record-lists.ts";
import { type CountedInstance, charge, endCounts, eventBytes, OverBudget, rowBytes } from "../stored-bytes.ts";
import {
  type Database,
  type InstanceRow,
  IS_HALF_DELETED,
  IS_LINK,
  IS_LINKED,
  IS_NOT_DELETED,
  IS_UNLINKED,
  IS_WAITING,
} from "../tables/all-tables.ts";
import { RECORDS } from "../tables/stored-fields.ts";
import { credentialStore, eraseSecrets, writeCredentials } from "./sealed-stores.ts";

type Move = Partial<InstanceRow> & {
  readonly id: string;
  readonly expectedVersion: number;
  readonly addedBytes: number;
};

const INSTANCE = preparedQuery((db, { id }: { id: string }) =>
  db.selectFrom("instances").selectAll().where("id", "=", id),
);
const INSERT_INSTANCE = preparedQuery((db, row: InstanceRow) => db.insertInto("instances").values(row));
const COUNT_INSTANCES = preparedQuery((db, { userId }: { userId: string }) =>
  db
    .selectFrom("instances")
    .select((eb) => eb.fn.countAll().as("count"))
    .where("user_id", "=", userId)
    .where(IS_NOT_DELETED),
);
const UPDATE_INSTANCE = preparedQuery((db, { id, expectedVersion, addedBytes, ...columns }: Move) =>
  db
    .updateTable("instances")
    .set((eb) => ({ ...columns, stored_bytes: eb("stored_bytes", "+", addedBytes), version: eb("version", "+", 1) }))
    .where("id", "=", id)
    .where("version", "=", expectedVersion)
    .returningAll(),
);

/** Rolls back an insertion: the user already has the maximum number of instances. */
class QuotaReached extends CodedError {
  readonly code = "quota_reached";
}

/** Instances and the credentials of their linked numbers. */
export function instanceStore(session: Session): InstanceStore {
  return {
    insert: (instance, events, receipt, maxInstances, budget) =>
      session
        .transaction(async (tx) => {
          const row = { ...RECORDS.instances.row(instance), stored_bytes: 0 };
          const bytes = rowBytes(row) + eventBytes(events) + (receipt ? rowBytes(receipt) : 0);
          await charge(tx, [{ owner: instance.userId, bytes, limit: budget?.userBytes }]);
          // On PostgreSQL this locks the user's log until the commit, so that the next insertion counts this one.
          await insertEvents(tx, events);
          if (maxInstances !== undefined && (await countInstances(tx, instance.userId)) >= maxInstances)
            throw new QuotaReached();
          await INSERT_INSTANCE(tx, { ...row, stored_bytes: bytes });
          if (receipt) await insertReceipt(tx, receipt, instance.id);
          return "created" as const;
        })
        .catch((error: unknown) => {
          if (error instanceof QuotaReached) return "at_limit";
          if (error instanceof KeyTaken) return "repeated";
          if (error instanceof OverBudget) return "over_budget";
          throw error;
        }),
    async get(id) {
      const [row] = await session.query(INSTANCE, { id });
      return row && RECORDS.instances.record(row);
    },
    list: (userId, page) => session.read((db) => listInstances(db, userId, page)),
    update: (id, version, patch, events, sealed) =>
      session.transaction(async (tx) => {
        const [row] = await UPDATE_INSTANCE(tx, {
          id,
          expectedVersion: version,
          addedBytes: eventBytes(events),
          ...RECORDS.instances.changes(patch),
        });
        if (!row) return undefined;
        await charge(tx, [{ owner: row.user_id, bytes: eventBytes(events) }]);
        if (sealed) await writeCredentials(tx, id, sealed);
        if (patch.status === "CREATED" || row.erased_at !== null) await eraseSecrets(tx, id);
        await insertEvents(tx, events);
        return RECORDS.instances.record(row);
      }),
    linked: (page) => instancesById(session, page, (rows) => rows.where(IS_LINKED)),
    withWaitingCalls: (limit) =>
      session.read(async (db) => {
        const rows = await withWaitingCalls(db, limit);
        return rows.map(RECORDS.instances.record);
      }),
    unlinked: (provider, page) =>
      instancesById(session, page, (rows) => rows.where(IS_UNLINKED).where("provider", "=", provider)),
    halfLinked: (page) =>
      instancesById(session, page, (rows) =>
        rows.where(IS_UNLINKED).where("id", "in", ({ selectFrom }) => selectFrom("credentials").select("instance_id")),
      ),
    halfDeleted: (page) => instancesById(session, page, (rows) => rows.where(IS_HALF_DELETED)),
    withPhone: (phone) => instancesById(session, {}, (rows) => rows.where("phone", "=", phone).where(IS_NOT_DELETED)),
    ...credentialStore(session),
    ...instancePurge(session),
  };
}

type InstanceQuery = SelectQueryBuilder<Database, "instances", InstanceRow>;

/** A page of the chosen instances, oldest first. */
function instancesById(
  session: Session,
  page: Page,
  chosen: (rows: InstanceQuery) => InstanceQuery,
): Promise<Instance[]> {
  return readRecords(session, RECORDS.instances, (db) =>
    pageById(chosen(db.selectFrom("instances").selectAll()), page, "asc"),
  );
}

/** Seeks the oldest waiting call of each linked instance in an index, instead of reading all waiting calls. */
function withWaitingCalls(db: Kysely<Database>, limit: number): Promise<InstanceRow[]> {
  const linkedInstances = db
    .selectFrom("instances")
    .selectAll()
    .select(({ selectFrom }) =>
      selectFrom("calls")
        .select("calls.id")
        .whereRef("calls.instance_id", "=", "instances.id")
        .where(IS_WAITING)
        .orderBy("calls.id")
        .limit(1)
        .as("oldest"),
    )
    .where(IS_LINKED);
  return db
    .selectFrom(linkedInstances.as("linked"))
    .selectAll()
    .where("oldest", "is not", null)
    .orderBy("oldest")
    .limit(limit)
    .execute();
}

async function countInstances(tx: Kysely<Database>, userId: string): Promise<number> {
  const [row] = await COUNT_INSTANCES(tx, { userId });
  return Number(row?.count);
}

/** Deletes old instances, and the link events of a number. */
function instancePurge(session: Session): Pick<InstanceStore, "forgetPhone" | "purge"> {
  return {
    forgetPhone: (phone) =>
      inPieces((limit) =>
        session.transaction((tx) =>
          deletePiece(tx, session.traits, {
            table: "events",
            limit,
            rows: (query) => query.where(isUnlinkedNumber(phone)),
          }),
        ),
      ),
    purge: (erasedBefore, limit) => purgeInstances(session, erasedBefore, limit),
  };
}

/** A link of this number to an instance that now has another number. */
function isUnlinkedNumber(phone: string) {
  return ({ and, eb, not, exists, selectFrom }: ExpressionBuilder<Database, "events">) =>
    and([
      IS_LINK,
      eb("data", "like", `%"phone":${JSON.stringify(phone)}%`),
      not(
        exists(
          selectFrom("instances")
            .select("instances.id")
            .whereRef("instances.id", "=", "events.instance_id")
            .where("instances.phone", "=", phone),
        ),
      ),
    ]);
}

/** One page of a user's instances, newest first. */
async function listInstances(db: Kysely<Database>, userId: string, page: Page): Promise<Instance[]> {
  let query = db.selectFrom("instances").selectAll().where("user_id", "=", userId).where(IS_NOT_DELETED);
  if (page.after !== undefined) {
    const position = await positionAfter(db, "instances", page.after);
    if (!position) return [];
    query = query.where(follows(position));
  }
  if (page.limit !== undefined) query = query.limit(page.limit);
  const rows = await query.orderBy("created_at", "desc").orderBy("id", "desc").execute();
  return rows.map(RECORDS.instances.record);
}

/** Maximum number of rows per instance: its own, its receipt, and the counts of its calls and bytes. */
const MAX_INSTANCE_ROWS = 6;

type PurgedInstance = Pick<InstanceRow, "id" | "user_id">;

/** Purges deleted instances, except those with calls, in pieces. */
async function purgeInstances(session: Session, erasedBefore: number, limit: number): Promise<string[]> {
  const instances = await session.transaction((tx) => erasedInstances(tx, erasedBefore, limit));
  for (let remainingInstances: readonly PurgedInstance[] = instances; remainingInstances.length > 0; ) {
    const purgedCount = await session.transaction((tx) => purgePiece(tx, remainingInstances, session.traits));
    remainingInstances = remainingInstances.slice(purgedCount);
    await setImmediate();
  }
  return instances.map(({ id }) => id);
}

/** Purges as many of these instances as one transaction may; returns the number of purged ones. */
async function purgePiece(tx: Kysely<Database>, instances: readonly PurgedInstance[], traits: Traits): Promise<number> {
  const purgedInstances: CountedInstance[] = [];
  const count = await purgeRows(tx, instances, traits, purgedInstances);
  await endCounts(tx, purgedInstances);
  return count;
}

async function purgeRows(
  tx: Kysely<Database>,
  instances: readonly PurgedInstance[],
  traits: Traits,
  purgedInstances: CountedInstance[],
): Promise<number> {
  let rows = 0;
  for (const [index, { id, user_id }] of instances.entries()) {
    rows += await deletePiece(tx, traits, {
      table: "events",
      limit: MAX_PIECE - rows,
      rows: (query) => query.where("user_id", "=", user_id).where("instance_id", "=", id).orderBy("position", "desc"),
    });
    if (rows === MAX_PIECE) return index;
    await blankReceipts(tx, [id]);
    const deletion = tx.deleteFrom("instances").where("id", "=", id).returning(["id", "user_id", "stored_bytes"]);
    purgedInstances.push(...(await deletion.execute()));
    await tx.deleteFrom("finished_counts").where("instance_id", "=", id).execute();
    rows = Math.min(rows + MAX_INSTANCE_ROWS, MAX_PIECE);
    if (rows === MAX_PIECE) return index + 1;
  }
  return instances.length;
}

function erasedInstances(db: Kysely<Database>, erasedBefore: number, limit: number): Promise<PurgedInstance[]> {
  return db
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
}
