import type { Kysely } from "kysely";
import type { TranscriptLine } from "../../src/domain/transcript.ts";
import type { TranscriptStore } from "../../src/ports/storage.ts";
import type { Database, TranscriptRow } from "./schema.ts";
import type { Session } from "./session.ts";

/** Rows per INSERT, ids per SELECT; both databases limit the parameters of one statement. */
const BATCH = 500;

/** Transcripts, one row for each line. */
export function transcriptStore(session: Session): TranscriptStore {
  return {
    append: (lines) =>
      session.transaction(async (tx) => {
        const remaining = await remainingCalls(tx, lines, session.traits.rowLocks);
        const rows = lines.filter(({ callId }) => remaining.has(callId)).map(rowOf);
        for (let from = 0; from < rows.length; from += BATCH)
          await tx
            .insertInto("transcripts")
            .values(rows.slice(from, from + BATCH))
            .onConflict((conflict) => conflict.columns(["call_id", "position"]).doNothing())
            .execute();
      }),
    ofCalls: (callIds) =>
      session.read(async (db) => {
        const found: TranscriptRow[] = [];
        for (let from = 0; from < callIds.length; from += BATCH)
          found.push(
            ...(await db
              .selectFrom("transcripts")
              .selectAll()
              .where("call_id", "in", callIds.slice(from, from + BATCH))
              .orderBy("start_ms")
              .orderBy("position")
              .execute()),
          );
        return found.map(lineOf);
      }),
  };
}

/** The calls of these lines that still exist, locked until the transaction ends. An erased call gets no more lines. */
async function remainingCalls(
  tx: Kysely<Database>,
  lines: readonly TranscriptLine[],
  rowLocks: boolean,
): Promise<ReadonlySet<string>> {
  const ids = [...new Set(lines.map(({ callId }) => callId))];
  const remaining = new Set<string>();
  for (let from = 0; from < ids.length; from += BATCH) {
    const found = await tx
      .selectFrom("calls")
      .select("id")
      .where("id", "in", ids.slice(from, from + BATCH))
      .$if(rowLocks, (query) => query.forKeyShare())
      .execute();
    for (const { id } of found) remaining.add(id);
  }
  return remaining;
}

function rowOf(line: TranscriptLine): TranscriptRow {
  return {
    call_id: line.callId,
    position: line.position,
    speaker: line.speaker,
    text: JSON.stringify(line.text),
    at: line.timestamp,
    start_ms: line.startMs,
    end_ms: line.endMs,
    confidence: line.confidence,
  };
}

function lineOf(row: TranscriptRow): TranscriptLine {
  return {
    callId: row.call_id,
    position: row.position,
    speaker: row.speaker,
    text: JSON.parse(row.text),
    timestamp: row.at,
    startMs: row.start_ms,
    endMs: row.end_ms,
    confidence: row.confidence,
  };
}
