import { sql } from "kysely";
import { SMALL_FILE } from "./audio-files.ts";
import { IS_ACTIVE } from "./conditions.ts";
import type { Session } from "./session.ts";

/** The audio file of an active call; a large one is read by a worker where the database has one. */
export async function callAudio(session: Session, id: string): Promise<Uint8Array | undefined> {
  const { files } = session;
  // The length alone is read without the file. Only a large one has more than one part.
  const bytes = files
    ? sql<Uint8Array | null>`case when length(bytes) <= ${SMALL_FILE} then bytes end`
    : sql<Uint8Array | null>`bytes`;
  const row = await session.read((db) =>
    db
      .selectFrom("call_audio")
      .select(bytes.as("bytes"))
      .where("call_id", "=", id)
      .where("part", "=", 0)
      .where("call_id", "in", db.selectFrom("calls").select("id").where("id", "=", id).where(IS_ACTIVE))
      .executeTakeFirst(),
  );
  if (row?.bytes === null) return files?.get(id);
  return row && new Uint8Array(row.bytes); // pg answers a Buffer, a view into a larger one
}
