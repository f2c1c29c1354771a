import { setImmediate } from "node:timers/promises";
import type { Kysely } from "kysely";
import { CALL_TYPES } from "../../src/domain/call.ts";
import type { CallStore } from "../../src/ports/storage.ts";
import type { Database } from "./schema.ts";
import type { Session } from "./session.ts";

/**
 * Counts a user's final calls of a period. Both queries read the part of an index that has them; the reasons of failed calls
 * are read from their rows.
 */
export function callTally(session: Session): CallStore["tally"] {
  return async (userId, from, until) => {
    const ended = (db: Kysely<Database>, status: "COMPLETED" | "FAILED") =>
      db
        .selectFrom("calls")
        .select((eb) => eb.cast<number>(eb.fn.countAll(), "bigint").as("calls"))
        .where("user_id", "=", userId)
        .where("status", "=", status)
        .where("type", "in", CALL_TYPES)
        .where("created_at", ">=", from)
        .where("created_at", "<", until);
    const reason = session.traits.jsonText("outcome", "reason");
    const [completed, failed] = await session.read((db) =>
      Promise.all([
        ended(db, "COMPLETED").executeTakeFirstOrThrow(),
        ended(db, "FAILED").select(reason.as("reason")).groupBy(reason).execute(),
      ]),
    );
    await setImmediate(); // SQLite has not let other work go on
    return {
      completed: completed.calls,
      failed: failed.reduce((sum, row) => sum + row.calls, 0),
      failures: Object.fromEntries(failed.flatMap(({ reason, calls }) => (reason === null ? [] : [[reason, calls]]))),
    };
  };
}
