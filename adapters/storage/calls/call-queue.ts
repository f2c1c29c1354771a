import { setImmediate } from "node:timers/promises";
import type { ExpressionBuilder, Kysely } from "kysely";
import { type Call, isActive } from "../../../src/domain/calls/call.ts";
import { MAX_POSTPONEMENT_MS } from "../../../src/domain/dialling-rules/calling-hours.ts";
import type { CallStore } from "../../../src/ports/storage.ts";
import { type FencedParams, preparedQuery, type Session } from "../connected-database.ts";
import {
  type CallRow,
  type Database,
  IS_ACTIVE,
  IS_NOT_DELETED,
  IS_ON_LINE,
  IS_POSTPONED,
  IS_QUEUED,
  IS_WAITING,
  WHOLE_DATABASE,
} from "../tables/all-tables.ts";
import { callOf } from "../tables/stored-fields.ts";

interface InstanceKey {
  readonly instance_id: string;
}

/** A call is skipped if its `notBefore` is later than `now` but not later than `until`. */
interface PostponementRange {
  readonly now: number;
  readonly until: number;
}

interface Claim extends InstanceKey, FencedParams {
  readonly owner: string;
  readonly dialing_at: number;
  readonly until: number;
  readonly line: number;
  /** The only call that may be claimed. Default: any. */
  readonly id?: string;
}

/**
 * The ids of active calls, in ascending order: ids rise with every call on the server, even if its clock is set back.
 * Read from an index alone, because calls' rows are large.
 */
const ACTIVE_CALLS = preparedQuery((db, { instance_id }: InstanceKey) =>
  db.selectFrom("calls").select("id").where("instance_id", "=", instance_id).where(IS_ACTIVE).orderBy("id"),
);
const NEXT_CALL = preparedQuery((db, { instance_id, now, until }: InstanceKey & PostponementRange) =>
  nextCall(db, instance_id, { now, until }).selectAll(),
);
const NEXT_NOT_BEFORE = preparedQuery((db, { instance_id, now }: InstanceKey & Pick<PostponementRange, "now">) =>
  db
    .selectFrom("calls")
    .select("not_before")
    .where("instance_id", "=", instance_id)
    .where(IS_POSTPONED)
    .where("not_before", ">", now)
    .orderBy("not_before")
    .limit(1),
);
const CLAIMED_CALLS = preparedQuery((db, { instance_id, owner }: InstanceKey & { readonly owner: string }) =>
  db
    .selectFrom("calls")
    .selectAll()
    .where(IS_ON_LINE)
    .where("instance_id", "=", instance_id)
    // Not `IS_QUEUED`, so that no database reads the index of all queued calls.
    .where("status", "not in", ["RINGING", "IN_PROGRESS"])
    .where("owner", "=", owner),
);

/** Maximum number of calls per query; their messages are large. */
const MAX_CALLS_PER_QUERY = 50;
/** Maximum number of index entries per query. */
const MAX_ENTRIES_PER_QUERY = 1_000;

/** Queries about active calls, for the dispatcher and for recovery. None of them reads a final call. */
export function callQueue(
  session: Session,
): Pick<CallStore, "active" | "nextWaiting" | "nextNotBefore" | "claimed" | "claimNext" | "orphaned"> {
  const claimCall = preparedQuery((db, { instance_id, owner, dialing_at, until, line, id, epoch }: Claim) =>
    db
      .updateTable("calls")
      .set((eb) => ({ owner, dialing_at, line, version: eb("version", "+", 1) }))
      .where(
        "id",
        "=",
        nextCall(db, instance_id, { now: dialing_at, until })
          .select("id")
          .$if(id !== undefined, (query) => query.where("id", "=", id ?? ""))
          .$if(session.traits.rowLocks, (query) => query.forUpdate().skipLocked()),
      )
      .$if(epoch !== undefined, (query) => query.where(isOwnedIn(epoch)))
      .returningAll(),
  );
  return {
    async active(instanceId) {
      const ids = (await session.query(ACTIVE_CALLS, { instance_id: instanceId })).map(({ id }) => id);
      const calls: Call[] = [];
      for (let from = 0; from < ids.length; from += MAX_CALLS_PER_QUERY) {
        if (from > 0) await setImmediate();
        calls.push(...(await activeCalls(session, ids.slice(from, from + MAX_CALLS_PER_QUERY))));
      }
      return calls;
    },
    async nextWaiting(instanceId, except = [], now = Number.MAX_SAFE_INTEGER) {
      const range = { now, until: Math.min(now + MAX_POSTPONEMENT_MS, Number.MAX_SAFE_INTEGER) };
      const [row] =
        except.length === 0
          ? await session.query(NEXT_CALL, { instance_id: instanceId, ...range })
          : await session.read((db) =>
              nextCall(db, instanceId, range).selectAll().where("id", "not in", except).execute(),
            );
      return row && callOf(row);
    },
    async nextNotBefore(instanceId, now) {
      const [row] = await session.query(NEXT_NOT_BEFORE, { instance_id: instanceId, now });
      return row?.not_before ?? undefined;
    },
    async claimed(instanceId, owner) {
      const rows = await session.query(CLAIMED_CALLS, { instance_id: instanceId, owner });
      return rows.map(callOf).sort((a, b) => (a.id < b.id ? -1 : 1));
    },
    async claimNext(instanceId, owner, now, line, callId) {
      const claim = {
        instance_id: instanceId,
        owner,
        dialing_at: now,
        until: now + MAX_POSTPONEMENT_MS,
        line,
        ...(callId !== undefined && { id: callId }),
      };
      const [row] = await session.writeOnce(claimCall, claim);
      return row && callOf(row);
    },
    async orphaned(owner, limit) {
      const dialledCalls = await session.read((db) =>
        db
          .selectFrom("calls")
          .selectAll()
          .where(IS_ON_LINE)
          .where(isOfOtherOwner(owner))
          .orderBy("instance_id")
          .limit(limit)
          .execute(),
      );
      return [...dialledCalls, ...(await callsOfDeletedInstances(session, limit - dialledCalls.length))].map(callOf);
    },
  };
}

/** The next call to claim. */
function nextCall(db: Kysely<Database>, instanceId: string, { now, until }: PostponementRange) {
  return db
    .selectFrom("calls")
    .where("instance_id", "=", instanceId)
    .where(IS_WAITING)
    .where(({ eb, fn, or, val }) =>
      or([eb(fn.coalesce("not_before", val(0)), "<=", now), eb("not_before", ">", until)]),
    )
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom("instances").select("instances.id").where("instances.id", "=", instanceId).where(IS_NOT_DELETED),
      ),
    )
    .orderBy("id")
    .limit(1);
}

/** Reads those of these calls that are active, in the same order. */
async function activeCalls(session: Session, ids: readonly string[]): Promise<Call[]> {
  const rows = await session.read((db) => db.selectFrom("calls").selectAll().where("id", "in", ids).execute());
  const calls = new Map(rows.map((row) => [row.id, callOf(row)]));
  return ids.flatMap((id) => calls.get(id) ?? []).filter(({ status }) => isActive(status));
}

/** A queued call's place in an index. */
interface QueuedPosition {
  readonly instance_id: string;
  readonly id: string;
}

/** Undialled calls that wait on deleted instances. Waiting calls are read in pieces, from an index. */
async function callsOfDeletedInstances(session: Session, limit: number): Promise<CallRow[]> {
  const calls: CallRow[] = [];
  let after: QueuedPosition = { instance_id: "", id: "" };
  while (calls.length < limit) {
    const entries = await session.read((db) => queuedCalls(db, after));
    const ids = entries.filter(({ status }) => status === "DELETED").map(({ id }) => id);
    for (let from = 0; from < ids.length && calls.length < limit; from += MAX_CALLS_PER_QUERY) {
      const batch = ids.slice(from, from + MAX_CALLS_PER_QUERY);
      const rows = await session.read((db) => db.selectFrom("calls").selectAll().where("id", "in", batch).execute());
      calls.push(...rows.filter(({ status, dialing_at }) => status === "QUEUED" && dialing_at === null));
    }
    const last = entries.at(-1);
    if (!last || entries.length < MAX_ENTRIES_PER_QUERY) break;
    after = last;
    await setImmediate();
  }
  return calls.slice(0, limit);
}

/** The next queued calls after a position in the index, with the status of their instance. */
function queuedCalls(db: Kysely<Database>, after: QueuedPosition) {
  return db
    .selectFrom("calls")
    .select(["instance_id", "id"])
    .select(({ selectFrom }) =>
      selectFrom("instances")
        .select("instances.status")
        .whereRef("instances.id", "=", "calls.instance_id")
        .as("status"),
    )
    .where(IS_QUEUED)
    .where((eb) => eb(eb.refTuple("instance_id", "id"), ">", eb.tuple(after.instance_id, after.id)))
    .orderBy("instance_id")
    .orderBy("id")
    .limit(MAX_ENTRIES_PER_QUERY)
    .execute();
}

/** Condition: this epoch owns the database. It stays true until the statement is committed. */
function isOwnedIn(epoch = 0) {
  return ({ exists, selectFrom }: ExpressionBuilder<Database, "calls">) =>
    exists(
      selectFrom("owners")
        .select("owners.name")
        .where("owners.name", "=", WHOLE_DATABASE)
        .where("owners.epoch", "=", epoch)
        .forKeyShare(),
    );
}

/** Condition: the call has another owner, or none. */
function isOfOtherOwner(owner: string) {
  return ({ eb, or }: ExpressionBuilder<Database, "calls">) => or([eb("owner", "is", null), eb("owner", "<>", owner)]);
}
