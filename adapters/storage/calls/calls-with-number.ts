import { setImmediate } from "node:timers/promises";
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Call } from "../../../src/domain/calls/call.ts";
import type { MentionedNumber } from "../../../src/domain/numbers/mentioned-number.ts";
import type { Page } from "../../../src/ports/storage.ts";
import type { Session } from "../database.ts";
import type { NumberPlace } from "../record-columns.ts";
import { callOf, RECORDS } from "../records.ts";
import type { CallRow, Database } from "../schema.ts";

type Places = {
  readonly [Table in keyof Database]: { readonly [Column in keyof Database[Table]]: readonly NumberPlace[] };
};

const NONE = ["none"] as const;
const KEPT = ["kept"] as const;

/**
 * Every column of the database, and what happens to a phone number in it. A new column does not compile until it is
 * here or in records.ts.
 */
export const NUMBER_PLACES: Places = {
  users: RECORDS.users.numbers,
  tokens: RECORDS.tokens.numbers,
  instances: { ...RECORDS.instances.numbers, stored_bytes: NONE },
  credentials: { instance_id: NONE, sealed: NONE },
  line_records: { instance_id: NONE, key: ["record"], sealed: NONE },
  consents: RECORDS.consents.numbers,
  calls: { ...RECORDS.calls.numbers, type: NONE, counted_at: NONE, demo_scope: NONE, stored_bytes: NONE },
  call_audio: { call_id: NONE, part: NONE, bytes: NONE },
  finished_counts: { instance_id: NONE, status: NONE, calls: NONE },
  events: { ...RECORDS.events.numbers, position: NONE },
  event_counters: { user_id: NONE, position: NONE, numbered: NONE },
  receipts: {
    ...{ user_id: NONE, scope: NONE, record_id: NONE, existing_status: NONE, created_at: NONE },
    key: KEPT, // a repeated request must not call again
    fingerprint: NONE, // a hash, deleted with the call
  },
  stored_usage: { owner: NONE, kind: NONE, amount: NONE },
  removed_calls: { token_id: NONE, created_at: NONE },
  transcripts: RECORDS.transcripts.numbers,
  trusted_time: { id: NONE, at: NONE, claimed_at: NONE, waited_ms: NONE, step_ms: NONE, stepped_ago_ms: NONE },
  webhooks: RECORDS.webhooks.numbers,
  webhook_deliveries: { ...RECORDS.webhook_deliveries.numbers, requested: NONE },
  owners: { name: NONE, epoch: NONE, owner: NONE, expires_at: NONE },
  accounts: { ...RECORDS.accounts.numbers, email_key: NONE, removal_begun_at: NONE },
  account_sessions: RECORDS.account_sessions.numbers,
  account_codes: RECORDS.account_codes.numbers,
  audit_log: RECORDS.audit_log.numbers,
};

/** The columns of a table whose numbers are treated in this way. */
export function columnsWith<Table extends keyof Database>(table: Table, place: NumberPlace): (keyof Database[Table])[] {
  const columns = Object.entries(NUMBER_PLACES[table]) as [keyof Database[Table], readonly NumberPlace[]][];
  return columns.filter(([, places]) => places.includes(place)).map(([column]) => column);
}

/**
 * Maximum number of calls that one step reads, with their events and transcripts. Other work continues between two
 * steps.
 */
const PIECE = 100;
const COLUMNS = columnsWith("calls", "call");

/**
 * Calls that mention a number, by ascending id: in a column, an event, or a transcript. No index serves that, so this
 * reads all calls after `after`, piece by piece, until it has found enough. The database finds the digits, so that only
 * the texts that have them are loaded.
 */
export async function callsNaming(
  session: Session,
  number: MentionedNumber,
  { after = "", limit = Infinity }: Page,
): Promise<Call[]> {
  const calls: Call[] = [];
  for (let cursor = after; ; ) {
    const piece = await session.read((db) =>
      db.selectFrom("calls").select("id").where("id", ">", cursor).orderBy("id").limit(PIECE).execute(),
    );
    const last = piece.at(-1);
    if (!last) return calls.slice(0, limit);
    const ids = await session.read((db) =>
      idsMentioning(
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
      calls.push(...rows.map(callOf));
    }
    if (calls.length >= limit || piece.length < PIECE) return calls.slice(0, limit);
    cursor = last.id;
    await setImmediate();
  }
}

/** Ids of those calls that mention the number. */
async function idsMentioning(
  db: Kysely<Database>,
  number: MentionedNumber,
  callIds: readonly string[],
): Promise<Set<string>> {
  const containsNumber = (column: RawBuilder<unknown>): RawBuilder<boolean> =>
    sql<boolean>`${column} like ${`%${number.digits}%`}`;
  const calls = await db
    .selectFrom("calls")
    .select(["id", ...COLUMNS])
    .where("id", "in", callIds)
    .where(({ or }) => or(COLUMNS.map((column) => containsNumber(sql.ref(column)))))
    .execute();
  const events = await db
    .selectFrom("events")
    .select(["call_id as id", "data as text"])
    .where("call_id", "in", callIds)
    .where(containsNumber(sql.ref("data")))
    .execute();
  const lines = await db
    .selectFrom("transcripts")
    .select(["call_id as id", "text"])
    .where("call_id", "in", callIds)
    .where(containsNumber(sql.ref("text")))
    .execute();
  const ids = new Set<string>();
  for (const row of calls)
    if (COLUMNS.some((column) => number.isIn(String((row as CallRow)[column] ?? "")))) ids.add(row.id);
  for (const { id, text } of [...events, ...lines]) if (id !== null && number.isIn(text)) ids.add(id);
  return ids;
}
