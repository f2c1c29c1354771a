import { setImmediate } from "node:timers/promises";
import { type Kysely, sql } from "kysely";
import { CodedError } from "../../src/base/error.ts";
import type { MentionedNumber } from "../../src/domain/numbers/mentioned-number.ts";
import type { LineRecordStore } from "../../src/ports/storage.ts";
import { lockedInstance } from "./credential-store.ts";
import { deletedRows } from "./deleted-rows.ts";
import type { Database } from "./schema.ts";
import type { Session } from "./session.ts";

/** Records of one statement. */
const CHUNK = 500;

/** Rolls a transaction back. */
class TooMany extends CodedError {
  readonly code = "too_many";
}

/** The sealed records of lines. */
export function lineRecordStore(session: Session): LineRecordStore {
  return {
    get: (instanceId, keys) =>
      session.read(async (db) => {
        if (keys.length === 0) return [];
        // A single statement never sees half of a write of several records.
        const rows = await db
          .selectFrom("line_records")
          .select(["key", "sealed"])
          .where("instance_id", "=", instanceId)
          .where("key", "in", [...new Set(keys)])
          .execute();
        const found = new Map(rows.map(({ key, sealed }) => [key, new Uint8Array(sealed)]));
        return keys.map((key) => found.get(key));
      }),
    keys: (instanceId, prefix) =>
      session.read(async (db) => {
        const end = behindPrefix(prefix);
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
    set: (instanceId, changes, most) =>
      session
        .transaction(async (tx) => {
          if (!(await lockedInstance(tx, instanceId, session.traits.rowLocks))) return true;
          await writeRecords(tx, instanceId, changes);
          if ((await countOf(tx, instanceId)) > most) throw new TooMany();
          return true;
        })
        .catch((error: unknown) => {
          if (error instanceof TooMany) return false;
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
  let forgotten = 0;
  for (let from = { instance_id: "", key: "" }; ; ) {
    const piece = await session.read((db) =>
      db
        .selectFrom("line_records")
        .select(["instance_id", "key"])
        .where(sql<boolean>`(instance_id, key) > (${from.instance_id}, ${from.key})`)
        .orderBy("instance_id")
        .orderBy("key")
        .limit(CHUNK)
        .execute(),
    );
    const keys = piece.filter(({ key }) => number.isIn(decoded(key)));
    for (const { instance_id, key } of keys)
      forgotten += await session.write(async (db) =>
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
    if (piece.length < CHUNK || !last) return forgotten;
    from = last;
    await setImmediate();
  }
}

/** Keys have addresses in the form of URIs. */
function decoded(key: string): string {
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
  const written = [...changes].flatMap(([key, sealed]) => (sealed ? [{ instance_id: instanceId, key, sealed }] : []));
  const deleted = [...changes].flatMap(([key, sealed]) => (sealed ? [] : [key]));
  for (let from = 0; from < deleted.length; from += CHUNK)
    await tx
      .deleteFrom("line_records")
      .where("instance_id", "=", instanceId)
      .where("key", "in", deleted.slice(from, from + CHUNK))
      .execute();
  for (let from = 0; from < written.length; from += CHUNK)
    await tx
      .insertInto("line_records")
      .values(written.slice(from, from + CHUNK))
      .onConflict((conflict) =>
        conflict.columns(["instance_id", "key"]).doUpdateSet(({ ref }) => ({ sealed: ref("excluded.sealed") })),
      )
      .execute();
}

async function countOf(tx: Kysely<Database>, instanceId: string): Promise<number> {
  const { count } = await tx
    .selectFrom("line_records")
    .select((eb) => eb.fn.countAll().as("count"))
    .where("instance_id", "=", instanceId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** The first string after all strings with this prefix, by code points; undefined if there is none. */
function behindPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) as number);
  while (points.at(-1) === 0x10ffff) points.pop();
  const last = points.pop();
  if (last === undefined) return undefined;
  const next = last === 0xd7ff ? 0xe000 : last + 1; // no surrogates
  return String.fromCodePoint(...points, next);
}
