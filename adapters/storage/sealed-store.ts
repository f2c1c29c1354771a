import { type Kysely, type SqlBool, sql } from "kysely";
import type { SealedKind, SealedPlace, SealedStore, SealedValue } from "../../src/ports/storage.ts";
import type { Database } from "./schema.ts";
import type { Session } from "./session.ts";

/** Place of the values of a kind. */
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

/** Everything that is stored sealed. */
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
  const behind = after ? sql`(${order}) > (${sql.join(key ? [after.id, after.key] : [after.id])})` : sql`true`;
  const { rows } = await sql<{ id: string; key: string; sealed: Uint8Array }>`
    select ${sql.ref(id)} as id, ${key ? sql.ref(key) : sql.lit("")} as key, ${sql.ref(sealed)} as sealed
    from ${sql.table(table)} where ${sql.ref(sealed)} is not null and ${behind} order by ${order} limit ${limit}`.execute(
    db,
  );
  return rows.map((row) => ({ id: row.id, key: row.key, sealed: new Uint8Array(row.sealed) }));
}

function isAt({ id, key }: Place, at: SealedPlace) {
  const same = sql<SqlBool>`${sql.ref(id)} = ${at.id}`;
  return key ? sql<SqlBool>`${same} and ${sql.ref(key)} = ${at.key}` : same;
}
