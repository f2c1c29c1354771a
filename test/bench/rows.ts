import type { DatabaseSync } from "node:sqlite";
import type { CallStatus, CallType } from "../../src/domain/calls/call.ts";

/** Writes unlinked instances, straight into the table. */
export function insertInstances(database: DatabaseSync, userId: string, ids: readonly string[]): void {
  const insert = database.prepare(
    "insert into instances (id, user_id, name, status, metadata, provider, phone, created_at, updated_at, version)" +
      " values (?, ?, ?, 'CREATED', '{}', 'simulator', null, ?, ?, 1)",
  );
  const now = Date.now();
  ids.forEach((id, n) => {
    insert.run(id, userId, `bench ${n}`, now + n, now + n);
  });
}

export interface StoredCall {
  readonly id: string;
  readonly instanceId: string;
  readonly userId: string;
  readonly status: Extract<CallStatus, "COMPLETED" | "FAILED">;
  readonly type: CallType;
  readonly createdAt: number;
}

/** Returns a function that writes one ended call directly into the table. */
export function callInserter(database: DatabaseSync): (call: StoredCall) => void {
  const insert = database.prepare(
    "insert into calls (id, instance_id, user_id, status, type, target_phone, message, outcome, created_at, started_at," +
      " ended_at, slot, owner, version) values (?, ?, ?, ?, ?, '+12025550100', ?, ?, ?, ?, ?, 0, null, 5)",
  );
  const outcome = JSON.stringify({
    reason: "message_played",
    detail: null,
    answeredBy: "unknown",
    heardMs: 4350,
    heardRatio: 1,
    durationMs: 5000,
  });
  return ({ id, instanceId, userId, status, type, createdAt }) => {
    const message = JSON.stringify({ type, text: "Your parcel arrives tomorrow at nine.", voiceId: "en-US-1" });
    const [started, ended] = [createdAt + 1000, createdAt + 6000];
    insert.run(id, instanceId, userId, status, type, message, outcome, createdAt, started, ended);
  };
}
