import type { Kysely } from "kysely";
import type { Call } from "../../src/domain/calls/call.ts";
import { freeSlot, type QueuePolicy } from "../../src/domain/instances/queue-policy.ts";
import type { CallQuota, CallStore, Insertion } from "../../src/ports/storage.ts";
import { MAX_SMALL_FILE_BYTES } from "./audio-files.ts";
import { removeLater } from "./audio-removal.ts";
import { quotaSpent } from "./call-quota.ts";
import { callOf, callRow } from "./call-row.ts";
import { IS_ACTIVE } from "./conditions.ts";
import { insertEvents } from "./event-insertion.ts";
import { prepared } from "./prepared.ts";
import { insertReceipt, KeyTaken } from "./receipt-store.ts";
import type { CallRow, Database } from "./schema.ts";
import type { Session } from "./session.ts";
import { charge, eventBytes, newCallCharges, OverBudget, rowBytes } from "./stored-bytes.ts";

const TAKEN_SLOTS = prepared((db, { instance_id }: { instance_id: string }) =>
  db.selectFrom("calls").select("slot").where("instance_id", "=", instance_id).where(IS_ACTIVE),
);
/** Returns no row if another writer took the slot. */
const INSERTED = prepared((db, row: CallRow) =>
  db
    .insertInto("calls")
    .values(row)
    .onConflict((conflict) => conflict.columns(["instance_id", "slot"]).where(IS_ACTIVE).doNothing())
    .returningAll(),
);

/** Stores a call in the first free slot of its instance's queue, or returns why there is none. */
export function insertCall(session: Session): CallStore["insert"] {
  // Locked: until the transaction ends, the instance is not deleted and gets no other call.
  const lockedInstance = prepared((db, { id }: { id: string }) =>
    db
      .selectFrom("instances")
      .select("status")
      .where("id", "=", id)
      .$if(session.traits.rowLocks, (query) => query.forNoKeyUpdate()),
  );
  const insert = (
    ...[[call, audio, policy, events, receipt, quota, budget], fileBytes]: [Parameters<CallStore["insert"]>, number]
  ) =>
    session.transaction<Insertion>(async (tx) => {
      const bytes = rowBytes(callRow(call)) + fileBytes + eventBytes(events) + (receipt ? rowBytes(receipt) : 0);
      const [instance] = await lockedInstance(tx, { id: call.instanceId });
      if (!instance || instance.status === "DELETED") return { kind: "instance_gone" };
      for (;;) {
        const taken = await TAKEN_SLOTS(tx, { instance_id: call.instanceId });
        const slot = freeSlot(
          policy,
          taken.map((row) => row.slot),
        );
        const oldestAt =
          slot === undefined || quota === undefined || call.tokenId === null
            ? undefined
            : await quotaSpent(tx, call.tokenId, quota, session.traits.rowLocks);
        if (oldestAt !== undefined) return { kind: "limited", oldestAt };
        const [row] =
          slot === undefined
            ? []
            : await INSERTED(tx, { ...callRow(call), slot, counted_at: countedAt(call, quota), stored_bytes: bytes });
        if (row) {
          if (audio) await tx.insertInto("call_audio").values({ call_id: call.id, part: 0, bytes: audio }).execute();
          if (receipt) await insertReceipt(tx, receipt, call.id);
          await charge(tx, newCallCharges(call, bytes, budget));
          await insertEvents(tx, events);
          return { kind: "created", call: callOf(row) };
        }
        if (slot !== undefined) continue; // another writer was faster: look again
        const result = await queueFull(tx, call.instanceId, policy);
        if (result) return result;
      }
    });
  const insertOnce = (creation: Parameters<CallStore["insert"]>, fileBytes: number) =>
    insert(creation, fileBytes).catch((error: unknown): Insertion => {
      if (error instanceof KeyTaken) return { kind: "repeated" };
      if (error instanceof OverBudget)
        return { kind: "over_budget", owner: error.owner === creation[0].userId ? "user" : "demo" };
      throw error;
    });
  return async (call, audio, ...more) => {
    const { files } = session;
    if (!audio || !files || audio.length <= MAX_SMALL_FILE_BYTES)
      return insertOnce([call, audio, ...more], audio?.length ?? 0);
    // The file first: a stored call always has its file. The next start deletes a file without a call.
    await files.put(call.id, audio);
    const inserted = await insertOnce([call, undefined, ...more], audio.length);
    if (inserted.kind !== "created") removeLater(session, call.id);
    return inserted;
  };
}

function countedAt({ tokenId, createdAt }: Call, quota: CallQuota | undefined): number | null {
  return tokenId === null ? null : (quota?.now ?? createdAt);
}

/** Returns undefined if the blocking call has just ended. */
async function queueFull(
  tx: Kysely<Database>,
  instanceId: string,
  policy: QueuePolicy,
): Promise<Insertion | undefined> {
  if (policy.kind === "fifo") return { kind: "full" };
  const row = await tx
    .selectFrom("calls")
    .selectAll()
    .where("instance_id", "=", instanceId)
    .where(IS_ACTIVE)
    .orderBy("slot")
    .limit(1)
    .executeTakeFirst();
  return row && { kind: "existing", call: callOf(row) };
}
