// The baseline "hand-written": reads a call as Ringport does, without a library. It hashes the token, runs the
// same two statements on the same tables, prepared once, and returns the same fields. Arguments: the database file.
import { createHash } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { serveText } from "./serve-text.ts";

const database = new DatabaseSync(process.argv[2] ?? "");
database.exec("pragma journal_mode = wal");
const tokenByHash = database.prepare("select * from tokens where hash = ?");
const callById = database.prepare("select * from calls where id = ?");

const time = (ms: unknown): string | null => (ms === null ? null : new Date(Number(ms)).toISOString());

const port = await serveText((path, authorization) => {
  const hash = createHash("sha256")
    .update(authorization?.slice(7) ?? "")
    .digest("hex");
  const token = tokenByHash.get(hash);
  if (!token || token.revoked_at !== null) return undefined;
  if (token.expires_at !== null && Number(token.expires_at) <= Date.now()) return undefined;
  const call = callById.get(path.slice(path.lastIndexOf("/") + 1));
  if (!call || call.user_id !== token.user_id) return undefined;
  return JSON.stringify({
    id: call.id,
    instance_id: call.instance_id,
    type: call.type,
    status: call.status,
    target_phone: call.target_phone,
    started_at: time(call.started_at),
    ended_at: time(call.ended_at),
    created_at: time(call.created_at),
  });
});
console.log(`http://127.0.0.1:${port}`);
