import { sql } from "kysely";
import { SMALL_FILE } from "./audio-files.ts";
import { IS_ACTIVE } from "./conditions.ts";
import type { Session } from "./session.ts";

/** The audio file of an active call; a large one is read by a worker where the database has one. */
export async function callAudio(session: Session, id: string): Promise<Uint8Array | undefined> {
  const { files } = session;
  const most = files ? SMALL_FILE : Number.MAX_SAFE_INTEGER;
  const row = await session.read((db) =>
    db
      .selectFrom("call_audio")
      // The length alone is read without the file.
      .select(sql<Uint8Array | null>`case when length(bytes) <= ${most} then bytes end`.as("bytes"))
      .where("call_id", "=", id)
      .where("call_id", "in", db.selectFrom("calls").select("id").where("id", "=", id).where(IS_ACTIVE))
      .executeTakeFirst(),
  );
  if (row?.bytes === null) return files?.get(id);
  return row && new Uint8Array(row.bytes); // pg answers a Buffer, a view into a larger one
}
