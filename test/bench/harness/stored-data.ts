import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sqlitePath } from "../../../adapters/defaults/data-folder.ts";
import { idSource } from "../../../src/base/ids.ts";
import type { CallStatus, CallType } from "../../../src/domain/calls/call.ts";
import { createRingport } from "../../../src/index.ts";

export const random = (bytes: Uint8Array): void => void crypto.getRandomValues(bytes as Uint8Array<ArrayBuffer>);
export const newId: ReturnType<typeof idSource> = idSource(Date.now, random);

/** Runs a function with a new data folder, and removes the folder. */
export async function inFolder<T>(run: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "ringport-bench-"));
  try {
    return await run(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A data folder with this version's tables, one user and that user's token. */
export interface StoredData {
  readonly folder: string;
  readonly file: string;
  readonly token: string;
  readonly userId: string;
  /** Writes to the database in one transaction, while no server runs on it. */
  fill(write: (database: DatabaseSync) => void): void;
}

/** Runs a function on a new {@link StoredData}. */
export function withStoredData<T>(run: (data: StoredData) => Promise<T>): Promise<T> {
  return inFolder(async (folder) => {
    const ringport = createRingport({ data: folder });
    await ringport.start();
    const { token, userId } = await ringport.tokens.issue({ userName: "bench", label: "bench" });
    await ringport.stop();
    const file = sqlitePath(folder);
    return run({ folder, file, token, userId, fill: (write) => fillDatabase(file, write) });
  });
}

/** Writes to a database in one transaction. */
export function fillDatabase(file: string, write: (database: DatabaseSync) => void): void {
  const database = new DatabaseSync(file);
  database.exec("pragma synchronous = off; pragma cache_size = -500000; begin immediate");
  write(database);
  database.exec("commit; pragma wal_checkpoint(truncate)");
  database.close();
}

/** Inserts unlinked instances into the table; returns their ids. */
export function insertInstances(database: DatabaseSync, userId: string, count: number): string[] {
  const insert = database.prepare(
    "insert into instances (id, user_id, name, status, metadata, provider, phone, created_at, updated_at, version)" +
      " values (?, ?, ?, 'CREATED', '{}', 'simulator', null, ?, ?, 1)",
  );
  const now = Date.now();
  return Array.from({ length: count }, (_, n) => {
    const id = newId("inst");
    insert.run(id, userId, `bench ${n}`, now + n, now + n);
    return id;
  });
}

export interface EndedCall {
  readonly instanceId: string;
  readonly userId: string;
  readonly status: Extract<CallStatus, "COMPLETED" | "FAILED">;
  readonly type: CallType;
  readonly createdAt: number;
}

/** Returns a function that inserts an ended call into the table, and returns its id. */
export function callInserter(database: DatabaseSync): (call: EndedCall) => string {
  const insert = database.prepare(
    "insert into calls (id, instance_id, user_id, status, type, target_phone, message, outcome, created_at, started_at," +
      " ended_at, slot, owner, version) values (?, ?, ?, ?, ?, '+12025550100', ?, ?, ?, ?, ?, 0, null, 5)",
  );
  const playback = { answeredBy: "unknown", heardMs: 4350, heardRatio: 1, durationMs: 5000 };
  const outcome = JSON.stringify({ reason: "message_played", detail: null, ...playback });
  return ({ instanceId, userId, status, type, createdAt }) => {
    const id = newId("call");
    const message = JSON.stringify({ type, text: "Your parcel arrives tomorrow at nine.", voiceId: "en-US-1" });
    const [startedAt, endedAt] = [createdAt + 1000, createdAt + 6000];
    insert.run(id, instanceId, userId, status, type, message, outcome, createdAt, startedAt, endedAt);
    return id;
  };
}
