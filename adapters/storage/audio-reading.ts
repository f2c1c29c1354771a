import { sql } from "kysely";
import { MAX_SMALL_FILE_BYTES } from "./audio-files.ts";
import { IS_ACTIVE } from "./conditions.ts";
import type { Session } from "./session.ts";

/** The audio file of an active call. A worker reads a large one, if the database has workers. */
export async function callAudio(session: Session, id: string): Promise<Uint8Array | undefined> {
  const { files } = session;
  // SQLite knows the length without reading the file. Only a large file has several parts.
  const bytes = files
    ? sql<Uint8Array | null>`case when length(bytes) <= ${MAX_SMALL_FILE_BYTES} then bytes end`
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
  return row && new Uint8Array(row.bytes); // pg returns a Buffer, a view into a larger one
}
