import type { CallStore } from "../../../src/ports/storage.ts";
import type { Session } from "../database.ts";
import { callOf } from "../records.ts";
import { IS_EXPIRING, IS_UNLIMITED, IS_WAITING } from "../schema.ts";

/** Queries about the time that calls have waited. */
export function waitingCalls(session: Session): Pick<CallStore, "waitingSince" | "oldestWaiting" | "expiring"> {
  return {
    waitingSince: (createdBefore, limit, after, selection = "all") =>
      session.read(async (db) => {
        const rows = await db
          .selectFrom("calls")
          .selectAll()
          .where(IS_WAITING)
          .where("created_at", "<", createdBefore)
          .$if(selection === "unlimited", (query) => query.where(IS_UNLIMITED))
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
          .where(IS_UNLIMITED)
          .orderBy("created_at")
          .orderBy("id")
          .limit(1)
          .executeTakeFirst();
        return row?.created_at;
      }),
    expiring: (before, limit, after) =>
      session.read(async (db) => {
        const rows = await db
          .selectFrom("calls")
          .selectAll()
          .where(IS_EXPIRING)
          .where("expires_at", "<", before)
          .$if(after !== undefined, (query) =>
            query.where((eb) =>
              eb(eb.refTuple("expires_at", "id"), ">", eb.tuple(after?.expiresAt ?? 0, after?.id ?? "")),
            ),
          )
          .orderBy("expires_at")
          .orderBy("id")
          .limit(limit)
          .execute();
        return rows.map(callOf);
      }),
  };
}
