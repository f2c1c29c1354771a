import type { TranscriptLine } from "../../src/domain/transcript.ts";
import type { TranscriptStore } from "../../src/ports/storage.ts";
import type { TranscriptRow } from "./schema.ts";
import type { Session } from "./session.ts";

/** Rows per INSERT, ids per SELECT; both databases limit the parameters of one statement. */
const BATCH = 500;

/** What was said, a row for each line; the key is also the order in which a call's lines are found. */
export function transcriptStore(session: Session): TranscriptStore {
  return {
    append: (lines) =>
      session.transaction(async (tx) => {
        for (let from = 0; from < lines.length; from += BATCH)
          await tx
            .insertInto("transcripts")
            .values(lines.slice(from, from + BATCH).map(rowOf))
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
