import { type Kysely, sql } from "kysely";
import { type AudioFiles, SMALL_FILE } from "./audio-files.ts";
import { IS_ACTIVE } from "./conditions.ts";
import { prepared } from "./prepared.ts";
import type { Database } from "./schema.ts";
import type { Session } from "./session.ts";

const REMOVED = prepared((db, { id }: { id: string }) =>
  db.deleteFrom("call_audio").where("call_id", "=", id).returning("call_id"),
);
const SMALL_REMOVED = prepared((db, { id }: { id: string }) =>
  db
    .deleteFrom("call_audio")
    .where("call_id", "=", id)
    .where("part", "=", 0)
    .where(sql<number>`length(bytes)`, "<=", SMALL_FILE)
    .returning("call_id"),
);

/** Deletes the audio file of a call in its transaction; answers false if a large one is left for {@link removeLater}. */
export async function removeAudio({ files }: Session, tx: Kysely<Database>, id: string): Promise<boolean> {
  if (!files) {
    await REMOVED(tx, { id });
    return true;
  }
  if ((await SMALL_REMOVED(tx, { id })).length > 0) return true;
  const large = await tx.selectFrom("call_audio").select("call_id").where("call_id", "=", id).executeTakeFirst();
  return large === undefined;
}

/** Deletes a large file behind the commit. What a fault leaves goes with the next start. */
export function removeLater({ files }: Session, callId: string): void {
  void files?.remove(callId).catch(() => {});
}

/** Deletes the files that a process left whose calls are over or were never stored. */
export async function removeLeftFiles(db: Kysely<Database>, files: AudioFiles): Promise<void> {
  const active = db.selectFrom("calls").select("id").where(IS_ACTIVE);
  const left = await db
    .selectFrom("call_audio")
    .select("call_id")
    .distinct()
    .where("call_id", "not in", active)
    .execute();
  // What cannot be deleted now goes with a later start: nobody can read it.
  for (const { call_id } of left) await files.remove(call_id).catch(() => {});
}
