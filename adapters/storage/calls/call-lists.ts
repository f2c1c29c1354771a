import { setImmediate } from "node:timers/promises";
import { type Kysely, type SelectQueryBuilder, sql } from "kysely";
import {
  CALL_STATUSES,
  CALL_TYPES,
  type Call,
  type CallFilter,
  type CallStatus,
  type CallType,
  NAMED_FILTERS,
} from "../../../src/domain/calls/call.ts";
import type { FailedReason } from "../../../src/domain/calls/outcome.ts";
import type { CallStore, Page } from "../../../src/ports/storage.ts";
import type { Session } from "../connected-database.ts";
import { follows, type Position, positionAfter } from "../record-lists.ts";
import type { Database } from "../tables/all-tables.ts";
import { callOf, RECORDS } from "../tables/stored-fields.ts";

/**
 * One page of a user's calls, newest first. Every combination of filters reads an index, starting at the first item of
 * the page. A filter by status or type alone reads one such page for each missing kind (at most five) and takes the
 * newest.
 */
export async function listCalls(db: Kysely<Database>, userId: string, filter: CallFilter, page: Page): Promise<Call[]> {
  const position = page.after === undefined ? undefined : await positionAfter(db, "calls", page.after);
  if (page.after !== undefined && !position) return [];

  if (statusesOf(filter)?.length === 0) return [];
  const ids = kindsOf(filter)
    .map((kind) => pageOfKind(db, userId, filter, kind, position, page.limit))
    .reduce((union, pageQuery) => union.unionAll(pageQuery));
  const newestIds = db
    .selectFrom(ids.as("pages"))
    .select("id")
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .$if(page.limit !== undefined, (query) => query.limit(page.limit ?? 0));
  const rows = await db
    .selectFrom("calls")
    .selectAll()
    .where("id", "in", newestIds)
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .execute();
  return rows.map(callOf);
}

/** True if an index that yields few calls is read, and the other filters are applied to those. */
function isNamed(filter: CallFilter): boolean {
  return NAMED_FILTERS.some((field) => filter[field] !== undefined);
}

function statusesOf({ status }: CallFilter): readonly CallStatus[] | undefined {
  return typeof status === "string" ? [status] : status && [...new Set(status)];
}

/** Status and type, both known or both free, as the start of an index. */
type Kind = { readonly status: CallStatus; readonly type: CallType } | undefined;

function kindsOf(filter: CallFilter): Kind[] {
  const { status, type } = filter;
  if ((status === undefined && type === undefined) || isNamed(filter)) return [undefined];
  const statuses = statusesOf(filter) ?? CALL_STATUSES;
  const types = type === undefined ? CALL_TYPES : [type];
  return statuses.flatMap((callStatus) => types.map((callType) => ({ status: callStatus, type: callType })));
}

type Key = { created_at: number; id: string };
type PageOfKind = SelectQueryBuilder<Database & { page: Key }, "page", Key>;

/** The expressions keep the database from using any index but the first filter's. */
function applyFilters<O>(query: SelectQueryBuilder<Database, "calls", O>, filter: CallFilter): typeof query {
  const { type, instanceId } = filter;
  const statuses = statusesOf(filter);
  let filteredQuery = query;
  const [indexedField, ...otherFields] = NAMED_FILTERS.filter((field) => filter[field] !== undefined);
  if (indexedField)
    filteredQuery = filteredQuery.where(RECORDS.calls.columns[indexedField].name, "=", filter[indexedField] ?? "");
  for (const field of otherFields)
    filteredQuery = filteredQuery.where(sql`${sql.ref(RECORDS.calls.columns[field].name)} || ''`, "=", filter[field]);
  if (instanceId !== undefined) filteredQuery = filteredQuery.where(sql`instance_id || ''`, "=", instanceId);
  if (statuses) filteredQuery = filteredQuery.where(sql`status || ''`, "in", statuses);
  if (type !== undefined) filteredQuery = filteredQuery.where(sql`type || ''`, "=", type);
  return filteredQuery;
}

function pageOfKind(
  db: Kysely<Database>,
  userId: string,
  filter: CallFilter,
  kind: Kind,
  position: Position | undefined,
  limit: number | undefined,
): PageOfKind {
  let query = db.selectFrom("calls").select(["created_at", "id"]).where("user_id", "=", userId);
  if (isNamed(filter)) query = applyFilters(query, filter);
  else if (filter.instanceId !== undefined) query = query.where("instance_id", "=", filter.instanceId);
  if (kind) query = query.where("status", "=", kind.status).where("type", "=", kind.type);
  if (filter.createdAfter !== undefined) query = query.where("created_at", ">", filter.createdAfter);
  // Only the lower of two upper bounds, because an index scan has one start.
  const before = filter.createdBefore;
  if (position && (before === undefined || position.createdAt < before)) query = query.where(follows(position));
  else if (before !== undefined) query = query.where("created_at", "<", before);
  query = query.orderBy("created_at", "desc").orderBy("id", "desc");
  if (limit !== undefined) query = query.limit(limit);
  // SQLite accepts an ordered, limited query in a union only inside a separate query.
  return db.selectFrom(query.as("page")).select(["page.created_at", "page.id"]);
}

/** Maximum number of failed calls per query, which reads their rows. */
const PIECE = 500;

interface Period {
  readonly userId: string;
  readonly from: number;
  readonly until: number;
}

/** A call's place in an index. */
interface IndexPosition {
  readonly created_at: number;
  readonly id: string;
}

/**
 * Counts a user's final calls in a period. Completed calls are counted in an index; the reasons of failed calls are
 * read from their rows, in pieces, between which other work continues.
 */
export function callTally(session: Session): CallStore["tally"] {
  return async (userId, from, until) => {
    const period = { userId, from, until };
    const completed = await session.read((db) => completedCalls(db, period));
    await setImmediate(); // a SQLite query blocks the thread
    const failures = new Map<FailedReason, number>();
    let failed = 0;
    for (const type of CALL_TYPES)
      for (let after: IndexPosition | undefined; ; ) {
        const rows = await session.read((db) => failedCalls(session, db, period, type, after));
        failed += rows.length;
        for (const { reason } of rows)
          if (reason !== null) failures.set(reason as FailedReason, (failures.get(reason as FailedReason) ?? 0) + 1);
        after = rows.at(-1);
        if (rows.length < PIECE) break;
        await setImmediate();
      }
    return { completed, failed, failures: Object.fromEntries(failures) };
  };
}

async function completedCalls(db: Kysely<Database>, { userId, from, until }: Period): Promise<number> {
  const { calls } = await db
    .selectFrom("calls")
    .select((eb) => eb.cast<number>(eb.fn.countAll(), "bigint").as("calls"))
    .where("user_id", "=", userId)
    .where("status", "=", "COMPLETED")
    .where("type", "in", CALL_TYPES)
    .where("created_at", ">=", from)
    .where("created_at", "<", until)
    .executeTakeFirstOrThrow();
  return calls;
}

function failedCalls(
  { traits }: Session,
  db: Kysely<Database>,
  { userId, from, until }: Period,
  type: CallType,
  after: IndexPosition | undefined,
): Promise<(IndexPosition & { readonly reason: string | null })[]> {
  return db
    .selectFrom("calls")
    .select(["created_at", "id"])
    .select(traits.jsonText("outcome", "reason").as("reason"))
    .where("user_id", "=", userId)
    .where("status", "=", "FAILED")
    .where("type", "=", type)
    .where((eb) =>
      after
        ? eb(eb.refTuple("created_at", "id"), ">", eb.tuple(after.created_at, after.id))
        : eb("created_at", ">=", from),
    )
    .where("created_at", "<", until)
    .orderBy("created_at")
    .orderBy("id")
    .limit(PIECE)
    .execute();
}
