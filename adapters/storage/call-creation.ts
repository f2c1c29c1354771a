import type { Kysely } from "kysely";
import type { Call } from "../../src/domain/call.ts";
import type { Event } from "../../src/domain/events.ts";
import { freeSlot, type QueuePolicy } from "../../src/domain/queue-policy.ts";
import type { CallStore, Insertion, ReceiptResult } from "../../src/ports/storage.ts";
import { callOf, callRow } from "./call-row.ts";
import { IS_ACTIVE } from "./conditions.ts";
import { insertEvents } from "./event-store.ts";
import { finishReceipt } from "./receipt-store.ts";
import type { CallRow, Database } from "./schema.ts";
import type { Session } from "./session.ts";

type ReceiptOf = (result: { created: boolean; call: Call }) => ReceiptResult;

/** Stores a call in the first free slot of its instance's queue, or says why there is none. */
export function insertCall(session: Session): CallStore["insert"] {
  return (call, audio, policy, events, receipt) =>
    session.transaction(async (tx) => {
      if (!(await holdInstance(tx, call.instanceId, session.traits.rowLocks))) return { kind: "instance_gone" };
      for (;;) {
        const slots = await takenSlots(tx, call.instanceId);
        const slot = freeSlot(policy, slots);
        const row = slot === undefined ? undefined : await insertRow(tx, { ...callRow(call), slot });
        if (row) return created(tx, callOf(row), audio, events, receipt);
        if (slot !== undefined) continue; // another writer was faster: look again
        const answer = await queueFull(tx, call.instanceId, policy, receipt);
        if (answer) return answer;
      }
    });
}

/** Reads the instance so that it cannot be deleted, nor another call be created, before this transaction ends. */
async function holdInstance(tx: Kysely<Database>, id: string, rowLocks: boolean): Promise<boolean> {
  const instance = await tx
    .selectFrom("instances")
    .select("status")
    .where("id", "=", id)
    .$if(rowLocks, (query) => query.forNoKeyUpdate())
    .executeTakeFirst();
  return instance !== undefined && instance.status !== "DELETED";
}

async function takenSlots(tx: Kysely<Database>, instanceId: string): Promise<number[]> {
  const rows = await tx
    .selectFrom("calls")
    .select("slot")
    .where("instance_id", "=", instanceId)
    .where(IS_ACTIVE)
    .execute();
  return rows.map((row) => row.slot);
}

/** Answers undefined where somebody else took the slot. */
function insertRow(tx: Kysely<Database>, row: CallRow): Promise<CallRow | undefined> {
  return tx
    .insertInto("calls")
    .values(row)
    .onConflict((conflict) => conflict.columns(["instance_id", "slot"]).where(IS_ACTIVE).doNothing())
    .returningAll()
    .executeTakeFirst();
}

async function created(
  tx: Kysely<Database>,
  call: Call,
  audio: Uint8Array | undefined,
  events: readonly Event[],
  receipt: ReceiptOf | undefined,
): Promise<Insertion> {
  if (audio) await tx.insertInto("call_audio").values({ call_id: call.id, bytes: audio }).execute();
  await insertEvents(tx, events);
  if (receipt) await finishReceipt(tx, receipt({ created: true, call }));
  return { kind: "created", call };
}

/** Answers undefined where the call that stood in the way has just ended. */
async function queueFull(
  tx: Kysely<Database>,
  instanceId: string,
  policy: QueuePolicy,
  receipt: ReceiptOf | undefined,
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
  if (!row) return undefined;
  const call = callOf(row);
  if (receipt) await finishReceipt(tx, receipt({ created: false, call }));
  return { kind: "existing", call };
}
