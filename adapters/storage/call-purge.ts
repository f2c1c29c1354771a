import type { Kysely } from "kysely";
import type { CallStatus } from "../../src/domain/call.ts";
import type { RemovedCalls } from "../../src/ports/storage.ts";
import { keepCounting } from "./call-quota.ts";
import { IS_FINAL } from "./conditions.ts";
import { deletedRows } from "./deleted-rows.ts";
import { prepared } from "./prepared.ts";
import { blankReceipts } from "./receipt-store.ts";
import type { Database, FinishedCountTable } from "./schema.ts";

/** Calls per DELETE; both databases limit the parameters of one statement. */
const BATCH = 500;

const COUNTED = prepared((db, { instance_id, status, calls }: FinishedCountTable) =>
  db
    .insertInto("finished_counts")
    .values({ instance_id, status, calls })
    .onConflict((conflict) =>
      conflict
        .columns(["instance_id", "status"])
        .doUpdateSet((eb) => ({ calls: eb("finished_counts.calls", "+", calls) })),
    ),
);

/** Ids of final calls that ended before a time (ms), oldest first. */
export async function endedCalls(db: Kysely<Database>, endedBefore: number, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom("calls")
    .select("id")
    .where(IS_FINAL)
    .where("ended_at", "<", endedBefore)
    .orderBy("ended_at")
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.map((row) => row.id);
}

/** Deletes final calls with all their records. Calls counted after `countedSince` (ms) still count for their token. */
export async function removeCalls(
  tx: Kysely<Database>,
  calls: readonly string[],
  countedSince = Infinity,
): Promise<RemovedCalls> {
  const ids: string[] = [];
  let events = 0;
  let transcriptLines = 0;
  let receipts = 0;
  for (let from = 0; from < calls.length; from += BATCH) {
    const deleted = await tx
      .deleteFrom("calls")
      .where("id", "in", calls.slice(from, from + BATCH))
      .where(IS_FINAL)
      .returning(["id", "instance_id", "status", "token_id", "counted_at"])
      .execute();
    const batch = deleted.map((row) => row.id);
    if (batch.length === 0) continue;
    ids.push(...batch);
    events += deletedRows(await tx.deleteFrom("events").where("call_id", "in", batch).executeTakeFirst());
    transcriptLines += deletedRows(await tx.deleteFrom("transcripts").where("call_id", "in", batch).executeTakeFirst());
    receipts += await blankReceipts(tx, batch);
    await keepCounting(tx, deleted, countedSince);
    await tx.deleteFrom("call_audio").where("call_id", "in", batch).execute();
    for (const [key, counted] of countedBy(deleted)) {
      const [instanceId, status] = JSON.parse(key) as [string, CallStatus];
      await countFinished(tx, instanceId, status, -counted);
    }
  }
  return { ids, events, transcriptLines, receipts };
}

/** Counts calls that became final, or (negative) were deleted. */
export async function countFinished(
  tx: Kysely<Database>,
  instanceId: string,
  status: CallStatus,
  calls: number,
): Promise<void> {
  await COUNTED(tx, { instance_id: instanceId, status, calls });
}

/** Sorted, so that two transactions lock rows in the same order. */
function countedBy(rows: readonly { instance_id: string; status: CallStatus }[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const row of rows) {
    const key = JSON.stringify([row.instance_id, row.status]);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].sort(([one], [other]) => (one < other ? -1 : 1));
}
