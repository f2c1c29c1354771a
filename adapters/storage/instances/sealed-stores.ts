import { setImmediate } from "node:timers/promises";
import { type Kysely, type SqlBool, sql } from "kysely";
import { CodedError } from "../../../src/base/error.ts";
import type { MentionedNumber } from "../../../src/domain/numbers/mentioned-number.ts";
import type {
  InstanceStore,
  LineRecordStore,
  SealedKind,
  SealedPlace,
  SealedStore,
  SealedValue,
} from "../../../src/ports/storage.ts";
import { deletedRows } from "../bounded-deletions.ts";
import { preparedQuery, type Session } from "../connected-database.ts";
import { countRows } from "../record-lists.ts";
import type { Database } from "../tables/all-tables.ts";

/** The place where values of one kind are stored. */
interface Place {
  readonly table: "credentials" | "line_records" | "webhooks";
  readonly id: "instance_id" | "id";
  readonly key?: "key";
  readonly sealed: "sealed" | "sealed_key" | "sealed_old_key" | "sealed_headers";
}

const PLACES: Readonly<Record<SealedKind, Place>> = {
  credentials: { table: "credentials", id: "instance_id", sealed: "sealed" },
  line_record: { table: "line_records", id: "instance_id", key: "key", sealed: "sealed" },
  webhook_key: { table: "webhooks", id: "id", sealed: "sealed_key" },
  webhook_old_key: { table: "webhooks", id: "id", sealed: "sealed_old_key" },
  webhook_headers: { table: "webhooks", id: "id", sealed: "sealed_headers" },
};

/** All sealed values. */
export function sealedStore(session: Session): SealedStore {
  return {
    list: (kind, limit, after) => session.read((db) => list(db, PLACES[kind], limit, after)),
    replace: (kind, value, sealed) =>
      session.write(async (db) => {
        const place = PLACES[kind];
        const column = sql.ref(place.sealed);
        const { numAffectedRows } = await sql`update ${sql.table(place.table)} set ${column} = ${sealed}
          where ${isAt(place, value)} and ${column} = ${value.sealed}`.execute(db);
        return Number(numAffectedRows) > 0;
      }),
  };
}

async function list(db: Kysely<Database>, place: Place, limit: number, after?: SealedPlace): Promise<SealedValue[]> {
  const { table, id, key, sealed } = place;
  const order = sql.join(key ? [sql.ref(id), sql.ref(key)] : [sql.ref(id)]);
  const position = after ? sql`(${order}) > (${sql.join(key ? [after.id, after.key] : [after.id])})` : sql`true`;
  const { rows } = await sql<{ id: string; key: string; sealed: Uint8Array }>`
    select ${sql.ref(id)} as id, ${key ? sql.ref(key) : sql.lit("")} as key, ${sql.ref(sealed)} as sealed
    from ${sql.table(table)} where ${sql.ref(sealed)} is not null and ${position} order by ${order} limit ${limit}`.execute(
    db,
  );
  return rows.map((row) => ({ id: row.id, key: row.key, sealed: new Uint8Array(row.sealed) }));
}

function isAt({ id, key }: Place, position: SealedPlace) {
  const isSameId = sql<SqlBool>`${sql.ref(id)} = ${position.id}`;
  return key ? sql<SqlBool>`${isSameId} and ${sql.ref(key)} = ${position.key}` : isSameId;
}

const CREDENTIALS = preparedQuery((db, { id }: { id: string }) =>
  db.selectFrom("credentials").select("sealed").where("instance_id", "=", id),
);

/** The sealed credentials of linked numbers. Credentials of a missing or deleted instance are not saved. */
export function credentialStore(
  session: Session,
): Pick<InstanceStore, "saveCredentials" | "loadCredentials" | "hasSecrets" | "eraseCredentials"> {
  return {
    saveCredentials: (id, sealed) =>
      session.transaction(async (tx) => {
        if (await lockInstance(tx, id, session.traits.rowLocks)) await writeCredentials(tx, id, sealed);
      }),
    async loadCredentials(id) {
      const [row] = await session.query(CREDENTIALS, { id });
      return row && new Uint8Array(row.sealed); // pg returns a Buffer, which is a view into a larger buffer
    },
    hasSecrets: (id) =>
      session.read(async (db) => {
        const row = await db
          .selectFrom("credentials")
          .select("instance_id")
          .where("instance_id", "=", id)
          .unionAll(({ selectFrom }) => selectFrom("line_records").select("instance_id").where("instance_id", "=", id))
          .limit(1)
          .executeTakeFirst();
        return row !== undefined;
      }),
    async eraseCredentials(id) {
      await session.transaction((tx) => eraseSecrets(tx, id));
    },
  };
}

/** Deletes the secrets of a linked number: its credentials and the records of its line. */
export async function eraseSecrets(tx: Kysely<Database>, id: string): Promise<void> {
  await tx.deleteFrom("credentials").where("instance_id", "=", id).execute();
  await tx.deleteFrom("line_records").where("instance_id", "=", id).execute();
}

/** Locks an instance until the transaction ends. Returns true if it exists and is not deleted. */
async function lockInstance(tx: Kysely<Database>, id: string, rowLocks: boolean): Promise<boolean> {
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

/** Maximum number of records per statement. */
const CHUNK = 500;

/** Rolls back a write: the line would have too many records. */
class TooManyRecords extends CodedError {
  readonly code = "too_many";
}

/** The sealed records of lines. */
export function lineRecordStore(session: Session): LineRecordStore {
  return {
    get: (instanceId, keys) =>
      session.read(async (db) => {
        if (keys.length === 0) return [];
        // A single statement never sees half of a write to several records.
        const rows = await db
          .selectFrom("line_records")
          .select(["key", "sealed"])
          .where("instance_id", "=", instanceId)
          .where("key", "in", [...new Set(keys)])
          .execute();
        const values = new Map(rows.map(({ key, sealed }) => [key, new Uint8Array(sealed)]));
        return keys.map((key) => values.get(key));
      }),
    keys: (instanceId, prefix) =>
      session.read(async (db) => {
        const end = endOfPrefix(prefix);
        const rows = await db
          .selectFrom("line_records")
          .select("key")
          .where("instance_id", "=", instanceId)
          .where("key", ">=", prefix)
          .$if(end !== undefined, (query) => query.where("key", "<", end ?? ""))
          .orderBy("key")
          .execute();
        return rows.map(({ key }) => key);
      }),
    set: (instanceId, changes, maxRecords) =>
      session
        .transaction(async (tx) => {
          if (!(await lockInstance(tx, instanceId, session.traits.rowLocks))) return true;
          await writeRecords(tx, instanceId, changes);
          const records = await countRows(tx, "line_records", (rows) => rows.where("instance_id", "=", instanceId));
          if (records > maxRecords) throw new TooManyRecords();
          return true;
        })
        .catch((error: unknown) => {
          if (error instanceof TooManyRecords) return false;
          throw error;
        }),
    forgetNumber: (number) => forgetNumber(session, number),
    async clear(instanceId) {
      await session.write((db) => db.deleteFrom("line_records").where("instance_id", "=", instanceId).execute());
    },
  };
}

/** Deletes the records whose key mentions a number, in pieces. */
async function forgetNumber(session: Session, number: MentionedNumber): Promise<number> {
  let count = 0;
  for (let cursor = { instance_id: "", key: "" }; ; ) {
    const piece = await session.read((db) =>
      db
        .selectFrom("line_records")
        .select(["instance_id", "key"])
        .where(sql<boolean>`(instance_id, key) > (${cursor.instance_id}, ${cursor.key})`)
        .orderBy("instance_id")
        .orderBy("key")
        .limit(CHUNK)
        .execute(),
    );
    const keys = piece.filter(({ key }) => number.isIn(decodeKey(key)));
    for (const { instance_id, key } of keys)
      count += await session.write(async (db) =>
        deletedRows(
          await db
            .deleteFrom("line_records")
            .where("instance_id", "=", instance_id)
            .where("key", "=", key)
            .where(({ not, exists, selectFrom }) =>
              not(
                exists(
                  selectFrom("instances")
                    .select("instances.id")
                    .where("instances.id", "=", instance_id)
                    .where("instances.phone", "=", number.phone),
                ),
              ),
            )
            .executeTakeFirst(),
        ),
      );
    const last = piece.at(-1);
    if (piece.length < CHUNK || !last) return count;
    cursor = last;
    await setImmediate();
  }
}

/** Keys contain addresses in the form of URIs. */
function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

async function writeRecords(
  tx: Kysely<Database>,
  instanceId: string,
  changes: ReadonlyMap<string, Uint8Array | undefined>,
): Promise<void> {
  const writtenRows = [...changes].flatMap(([key, sealed]) =>
    sealed ? [{ instance_id: instanceId, key, sealed }] : [],
  );
  const deletedKeys = [...changes].flatMap(([key, sealed]) => (sealed ? [] : [key]));
  for (let from = 0; from < deletedKeys.length; from += CHUNK)
    await tx
      .deleteFrom("line_records")
      .where("instance_id", "=", instanceId)
      .where("key", "in", deletedKeys.slice(from, from + CHUNK))
      .execute();
  for (let from = 0; from < writtenRows.length; from += CHUNK)
    await tx
      .insertInto("line_records")
      .values(writtenRows.slice(from, from + CHUNK))
      .onConflict((conflict) =>
        conflict.columns(["instance_id", "key"]).doUpdateSet(({ ref }) => ({ sealed: ref("excluded.sealed") })),
      )
      .execute();
}

/** The first string after all strings with this prefix, by code points; undefined if there is none. */
function endOfPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) as number);
  while (points.at(-1) === 0x10ffff) points.pop();
  const last = points.pop();
  if (last === undefined) return undefined;
  const next = last === 0xd7ff ? 0xe000 : last + 1; // no surrogates
  return String.fromCodePoint(...points, next);
}
