import { setImmediate } from "node:timers/promises";
import type { Kysely } from "kysely";
import { CALL_TYPES, type CallType } from "../../src/domain/calls/call.ts";
import type { FailedReason } from "../../src/domain/calls/outcome.ts";
import type { CallStore } from "../../src/ports/storage.ts";
import type { Database } from "./schema.ts";
import type { Session } from "./session.ts";

/** Failed calls of one query, which reads their rows. */
const PIECE = 500;

interface Period {
  readonly userId: string;
  readonly from: number;
  readonly until: number;
}

/** The place of a call in an index. */
interface Place {
  readonly created_at: number;
  readonly id: string;
}

/**
 * Counts a user's final calls of a period. Completed calls are counted in an index; the reasons of failed calls are read
 * from their rows, in pieces, between which other work continues.
 */
export function callTally(session: Session): CallStore["tally"] {
  return async (userId, from, until) => {
    const period = { userId, from, until };
    const completed = await session.read((db) => completedCalls(db, period));
    await setImmediate(); // SQLite has not let other work continue
    const failures = new Map<FailedReason, number>();
    let failed = 0;
    for (const type of CALL_TYPES)
      for (let after: Place | undefined; ; ) {
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
  after: Place | undefined,
): Promise<(Place & { readonly reason: string | null })[]> {
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
