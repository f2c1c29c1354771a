import type { Kysely } from "kysely";
import type { TranscriptLine } from "../../../src/domain/calls/transcript.ts";
import type { TranscriptStore } from "../../../src/ports/storage.ts";
import type { Session } from "../database.ts";
import { RECORDS } from "../records.ts";
import type { Database } from "../schema.ts";

/** Rows per INSERT, ids per SELECT; both databases limit the parameters of one statement. */
const BATCH = 500;

/** Transcripts, one row for each line. */
export function transcriptStore(session: Session): TranscriptStore {
  return {
    append: (lines) =>
      session.transaction(async (tx) => {
        const remainingIds = await remainingCalls(tx, lines, session.traits.rowLocks);
        const rows = lines.filter(({ callId }) => remainingIds.has(callId)).map(RECORDS.transcripts.row);
        for (let from = 0; from < rows.length; from += BATCH)
          await tx
            .insertInto("transcripts")
            .values(rows.slice(from, from + BATCH))
            .onConflict((conflict) => conflict.columns(["call_id", "position"]).doNothing())
            .execute();
      }),
    ofCalls: (callIds) =>
      session.read(async (db) => {
        const rows: Database["transcripts"][] = [];
        for (let from = 0; from < callIds.length; from += BATCH)
          rows.push(
            ...(await db
              .selectFrom("transcripts")
              .selectAll()
              .where("call_id", "in", callIds.slice(from, from + BATCH))
              .orderBy("start_ms")
              .orderBy("position")
              .execute()),
          );
        return rows.map(RECORDS.transcripts.record);
      }),
  };
}

/**
 * The calls of these lines that still exist, locked until the transaction ends. No lines are added to an erased call.
 */
async function remainingCalls(
  tx: Kysely<Database>,
  lines: readonly TranscriptLine[],
  rowLocks: boolean,
): Promise<ReadonlySet<string>> {
  const ids = [...new Set(lines.map(({ callId }) => callId))];
  const remainingIds = new Set<string>();
  for (let from = 0; from < ids.length; from += BATCH) {
    const rows = await tx
      .selectFrom("calls")
      .select("id")
      .where("id", "in", ids.slice(from, from + BATCH))
      .$if(rowLocks, (query) => query.forKeyShare())
      .execute();
    for (const { id } of rows) remainingIds.add(id);
  }
  return remainingIds;
}
