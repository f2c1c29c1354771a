import { setImmediate } from "node:timers/promises";
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Call } from "../../src/domain/calls/call.ts";
import type { MentionedNumber } from "../../src/domain/numbers/mentioned-number.ts";
import type { Page } from "../../src/ports/storage.ts";
import { callOf } from "./call-row.ts";
import { columnsWith } from "./number-places.ts";
import type { CallRow, Database } from "./schema.ts";
import type { Session } from "./session.ts";

/** Maximum number of calls that one step reads, with their events and transcripts. Other work continues between two steps. */
const PIECE = 100;
const COLUMNS = columnsWith("calls", "call");

/**
 * Calls that mention a number, by ascending id: in a separate column, an event, or a transcript. No index serves that,
 * so this reads all calls after `after`, piece by piece, until it has found enough. The database finds the digits, so that
 * only the texts that have them are loaded.
 */
export async function callsNaming(
  session: Session,
  number: MentionedNumber,
  { after = "", limit = Infinity }: Page,
): Promise<Call[]> {
  const found: Call[] = [];
  for (let from = after; ; ) {
    const piece = await session.read((db) =>
      db.selectFrom("calls").select("id").where("id", ">", from).orderBy("id").limit(PIECE).execute(),
    );
    const last = piece.at(-1);
    if (!last) return found.slice(0, limit);
    const ids = await session.read((db) =>
      mentioning(
        db,
        number,
        piece.map(({ id }) => id),
      ),
    );
    if (ids.size > 0) {
      const rows = await session.read((db) =>
        db
          .selectFrom("calls")
          .selectAll()
          .where("id", "in", [...ids])
          .orderBy("id")
          .execute(),
      );
      found.push(...rows.map(callOf));
    }
    if (found.length >= limit || piece.length < PIECE) return found.slice(0, limit);
    from = last.id;
    await setImmediate();
  }
}

/** Ids of those calls that mention the number. */
async function mentioning(
  db: Kysely<Database>,
  number: MentionedNumber,
  among: readonly string[],
): Promise<Set<string>> {
  const has = (column: RawBuilder<unknown>): RawBuilder<boolean> =>
    sql<boolean>`${column} like ${`%${number.digits}%`}`;
  const calls = await db
    .selectFrom("calls")
    .select(["id", ...COLUMNS])
    .where("id", "in", among)
    .where(({ or }) => or(COLUMNS.map((column) => has(sql.ref(column)))))
    .execute();
  const events = await db
    .selectFrom("events")
    .select(["call_id as id", "data as text"])
    .where("call_id", "in", among)
    .where(has(sql.ref("data")))
    .execute();
  const lines = await db
    .selectFrom("transcripts")
    .select(["call_id as id", "text"])
    .where("call_id", "in", among)
    .where(has(sql.ref("text")))
    .execute();
  const ids = new Set<string>();
  for (const row of calls)
    if (COLUMNS.some((column) => number.isIn(String((row as CallRow)[column] ?? "")))) ids.add(row.id);
  for (const { id, text } of [...events, ...lines]) if (id !== null && number.isIn(text)) ids.add(id);
  return ids;
}
