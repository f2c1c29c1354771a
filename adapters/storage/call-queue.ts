import type { ExpressionBuilder } from "kysely";
import { MAX_UNREACHED } from "../../src/domain/dial-decision.ts";
import { UNANSWERED_REASONS } from "../../src/domain/outcome.ts";
import type { CallStore } from "../../src/ports/storage.ts";
import { callOf } from "./call-row.ts";
import { IS_ACTIVE, IS_DIALING, IS_DIALLED, IS_NOT_DELETED, IS_ON_LINE, IS_QUEUED, IS_WAITING } from "./conditions.ts";
import { prepared } from "./prepared.ts";
import { type Database, WHOLE_DATABASE } from "./schema.ts";
import type { Fenced, Session } from "./session.ts";

interface Claim extends Fenced {
  readonly instance_id: string;
  readonly owner: string;
  readonly dialing_at: number;
}

/** By id: ids rise with every call of the server, also if its clock is set back. */
const ACTIVE_CALLS = prepared((db, { instance_id }: { instance_id: string }) =>
  db.selectFrom("calls").selectAll().where("instance_id", "=", instance_id).where(IS_ACTIVE).orderBy("id"),
);

/** Queries of the dispatcher and of recovery about active calls. None of them reads a final call. */
export function callQueue(
  session: Session,
): Pick<CallStore, "active" | "claimNext" | "dialHistory" | "waitingSince" | "oldestWaiting" | "orphaned"> {
  const claimed = prepared((db, { instance_id, owner, dialing_at, epoch }: Claim) =>
    db
      .updateTable("calls")
      .set((eb) => ({ owner, dialing_at, version: eb("version", "+", 1) }))
      .where("id", "=", (eb) =>
        eb
          .selectFrom("calls")
          .select("id")
          .where("instance_id", "=", instance_id)
          .where(IS_WAITING)
          .where(({ exists, selectFrom }) =>
            exists(
              selectFrom("instances")
                .select("instances.id")
                .where("instances.id", "=", instance_id)
                .where(IS_NOT_DELETED),
            ),
          )
          .orderBy("id")
          .limit(1)
          .$if(session.traits.rowLocks, (query) => query.forUpdate().skipLocked()),
      )
      .$if(epoch !== undefined, (query) => query.where(isOwnedIn(epoch)))
      .returningAll(),
  );
  return {
    async active(instanceId) {
      const rows = await session.query(ACTIVE_CALLS, { instance_id: instanceId });
      return rows.map(callOf);
    },
    async claimNext(instanceId, owner, now) {
      const [row] = await session.writeOnce(claimed, { instance_id: instanceId, owner, dialing_at: now });
      return row && callOf(row);
    },
    dialHistory: (instanceId, since, most, until, which = "all") =>
      session.read(async (db) => {
        const reason = session.traits.jsonText("outcome", "reason");
        const dialled = db
          .selectFrom("calls")
          .select(["id", "dialing_at", "started_at", "ended_at"])
          .where("instance_id", "=", instanceId)
          .where(IS_DIALLED)
          .where("dialing_at", ">", since)
          .$if(until !== undefined, (query) => query.where("dialing_at", "<=", until ?? 0))
          .orderBy("dialing_at", "desc");
        const newest = dialled.select(reason.as("reason")).limit(most + MAX_UNREACHED);
        const rows =
          which === "all"
            ? await dialled.limit(most).execute()
            : await db
                .selectFrom(newest.as("dialled"))
                .select(["id", "dialing_at", "started_at", "ended_at"])
                .where((eb) => eb.or([eb("started_at", "is not", null), eb("reason", "in", UNANSWERED_REASONS)]))
                .orderBy("dialing_at", "desc")
                .limit(most)
                .execute();
        return rows.map(({ id, dialing_at, started_at, ended_at }) => ({
          callId: id,
          at: dialing_at ?? 0,
          endedAt: ended_at,
          answered: started_at !== null,
        }));
      }),
    waitingSince: (createdBefore, limit, after) =>
      session.read(async (db) => {
        const rows = await db
          .selectFrom("calls")
          .selectAll()
          .where(IS_WAITING)
          .where("created_at", "<", createdBefore)
          .$if(after !== undefined, (query) =>
            query.where((eb) =>
              eb(eb.refTuple("created_at", "id"), ">", eb.tuple(after?.createdAt ?? 0, after?.id ?? "")),
            ),
          )
          .orderBy("created_at")
          .orderBy("id")
          .limit(limit)
          .execute();
        return rows.map(callOf);
      }),
    oldestWaiting: () =>
      session.read(async (db) => {
        const row = await db
          .selectFrom("calls")
          .select("created_at")
          .where(IS_WAITING)
          .orderBy("created_at")
          .orderBy("id")
          .limit(1)
          .executeTakeFirst();
        return row?.created_at;
      }),
    orphaned: (owner, limit) =>
      session.read(async (db) => {
        const onLine = await db
          .selectFrom("calls")
          .selectAll()
          .where(IS_ON_LINE)
          .where(isOfOtherOwner(owner))
          .orderBy("instance_id")
          .limit(limit)
          .execute();
        const dialing = await db
          .selectFrom("calls")
          .selectAll()
          .where(IS_DIALING)
          .where(isOfOtherOwner(owner))
          .limit(limit - onLine.length)
          .execute();
        const ofDeleted = await db
          .selectFrom("calls")
          .selectAll()
          .where(IS_QUEUED)
          .where("dialing_at", "is", null)
          .where((eb) =>
            eb.exists(
              eb
                .selectFrom("instances")
                .select("instances.id")
                .whereRef("instances.id", "=", "calls.instance_id")
                .where("instances.status", "=", "DELETED"),
            ),
          )
          .limit(limit - onLine.length - dialing.length)
          .execute();
        return [...onLine, ...dialing, ...ofDeleted].map(callOf);
      }),
  };
}

/** Whether this epoch owns the database. Stays true until the statement is committed. */
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

/** A call that another process owns, or none. */
function isOfOtherOwner(owner: string) {
  return ({ eb, or }: ExpressionBuilder<Database, "calls">) => or([eb("owner", "is", null), eb("owner", "<>", owner)]);
}
