import { type Kysely, sql } from "kysely";
import { CodedError } from "../../../src/base/error.ts";
import type { Call } from "../../../src/domain/calls/call.ts";
import { freeSlot, type QueuePolicy } from "../../../src/domain/instances/queue-capacity.ts";
import type { CallQuota, CallStore, Insertion } from "../../../src/ports/storage.ts";
import { callTarget } from "../batches/target-store.ts";
import { deletePiece, MAX_PIECE } from "../bounded-deletions.ts";
import { preparedQuery, type Session, type Traits } from "../connected-database.ts";
import { MAX_SMALL_FILE_BYTES } from "../sqlite/audio-files.ts";
import { charge, eventBytes, newCallCharges, OverBudget, rowBytes } from "../stored-bytes.ts";
import { type CallRow, type Database, IS_ACTIVE, type RemovedCallTable } from "../tables/all-tables.ts";
import { callOf, callRow } from "../tables/stored-fields.ts";
import { insertAudioFile, removeLater } from "./audio-and-transcripts.ts";
import { insertEvents } from "./event-store.ts";
import { insertReceipt, KeyTaken } from "./receipt-store.ts";
import { isAudioGone } from "./stored-audio-store.ts";

const USED_SLOTS = preparedQuery((db, { instance_id }: { instance_id: string }) =>
  db.selectFrom("calls").select("slot").where("instance_id", "=", instance_id).where(IS_ACTIVE),
);
/** Returns no row if another writer took the slot. */
const INSERT_CALL = preparedQuery((db, row: CallRow) =>
  db
    .insertInto("calls")
    .values(row)
    .onConflict((conflict) => conflict.columns(["instance_id", "slot"]).where(IS_ACTIVE).doNothing())
    .returningAll(),
);

/** Rolls back a creation: the batch target is not waiting for this call. */
class TargetTaken extends CodedError {
  readonly code = "target_taken";
}

/** Stores a call in the first free slot of its instance's queue, or returns the reason if there is none. */
export function insertCall(session: Session): CallStore["insert"] {
  // Locked: until the transaction ends, the instance is not deleted and gets no other call.
  const lockInstance = preparedQuery((db, { id }: { id: string }) =>
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
      const newRow = callRow(call);
      const bytes = rowBytes(newRow) + fileBytes + eventBytes(events) + (receipt ? rowBytes(receipt) : 0);
      const [instance] = await lockInstance(tx, { id: call.instanceId });
      if (!instance || instance.status === "DELETED") return { kind: "instance_gone" };
      const { audio_id } = newRow;
      if (audio_id !== null && (await isAudioGone(tx, audio_id, session.traits, call.batchId !== undefined)))
        return { kind: "audio_gone" };
      for (;;) {
        const usedSlots = await USED_SLOTS(tx, { instance_id: call.instanceId });
        const slot = freeSlot(
          policy,
          usedSlots.map((row) => row.slot),
        );
        const oldestAt =
          slot === undefined || quota === undefined || call.tokenId === null
            ? undefined
            : await quotaSpent(tx, call.tokenId, quota, session.traits.rowLocks);
        if (oldestAt !== undefined) return { kind: "limited", oldestAt };
        const [row] =
          slot === undefined
            ? []
            : await INSERT_CALL(tx, {
                ...newRow,
                slot,
                counted_at: countedAt(call, quota),
                stored_bytes: bytes,
              });
        if (row) {
          if (audio) await insertAudioFile(tx, call.id, audio);
          if (!(await callTarget(tx, call, session.traits))) throw new TargetTaken();
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
      if (error instanceof TargetTaken) return { kind: "target_taken" };
      if (error instanceof OverBudget)
        return { kind: "over_budget", owner: error.owner === creation[0].userId ? "user" : "demo" };
      throw error;
    });
  return async (call, audio, ...otherArguments) => {
    const { files } = session;
    if (!audio || !files || audio.length <= MAX_SMALL_FILE_BYTES)
      return insertOnce([call, audio, ...otherArguments], audio?.length ?? 0);
    // The file is stored first, so that a stored call always has its file. The next start deletes a file without a
    // call.
    await files.put(call.id, audio);
    const insertion = await insertOnce([call, undefined, ...otherArguments], audio.length);
    if (insertion.kind !== "created") removeLater(session, call.id);
    return insertion;
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

interface CountedSpan {
  readonly token_id: string;
  readonly since: number;
}

interface SpentQuota extends CountedSpan {
  /** Number of newer calls to skip. */
  readonly skip: number;
}

/** The number of the lock that serializes creations with one token. */
const TOKEN_LOCK = 0x72_70_63_71;

/** The number of calls that count, including deleted ones; read from the index alone. */
const COUNT_CALLS = preparedQuery((db, { token_id, since }: CountedSpan) =>
  db
    .selectFrom("calls")
    .select(({ fn }) => fn.countAll<number | bigint | string>().as("n"))
    .where("token_id", "=", token_id)
    .where("counted_at", ">", since)
    .unionAll(
      db
        .selectFrom("removed_calls")
        .select(({ fn }) => fn.countAll<number | bigint | string>().as("n"))
        .where("token_id", "=", token_id)
        .where("created_at", ">", since),
    ),
);

/**
 * The time at which the oldest call within the quota was counted: the newest after `skip` others, including deleted
 * ones. Both parts are read backwards from the end of an index.
 */
const OLDEST_COUNTED = preparedQuery((db, { token_id, since, skip }: SpentQuota) =>
  db
    .selectFrom("calls")
    .select("counted_at")
    .where("token_id", "=", token_id)
    .where("counted_at", ">", since)
    .unionAll(
      db
        .selectFrom("removed_calls")
        .select("created_at as counted_at")
        .where("token_id", "=", token_id)
        .where("created_at", ">", since),
    )
    .orderBy("counted_at", "desc")
    .limit(1)
    .offset(skip),
);

/**
 * The time at which the oldest call that blocks another one was counted, ms; undefined if the quota has room. The
 * result is valid until the transaction ends.
 * @param mustLock true to lock the token first, because transactions overlap
 */
export async function quotaSpent(
  tx: Kysely<Database>,
  tokenId: string,
  { maxCalls, since, now }: CallQuota,
  mustLock: boolean,
): Promise<number | undefined> {
  if (mustLock) await sql`select pg_advisory_xact_lock(${TOKEN_LOCK}, hashtext(${tokenId}))`.execute(tx);
  const counts = await COUNT_CALLS(tx, { token_id: tokenId, since });
  if (counts.reduce((sum, { n }) => sum + Number(n), 0) < maxCalls) return undefined;
  if (now !== undefined) await clampFutureCounts(tx, tokenId, now);
  const [last] = await OLDEST_COUNTED(tx, { token_id: tokenId, since, skip: maxCalls - 1 });
  return last?.counted_at ?? undefined;
}

/** Moves counts from a time when the clock was ahead to now; otherwise they would block the token until that time. */
async function clampFutureCounts(tx: Kysely<Database>, tokenId: string, now: number): Promise<void> {
  await tx
    .updateTable("calls")
    .set({ counted_at: now })
    .where("token_id", "=", tokenId)
    .where("counted_at", ">", now)
    .execute();
  await tx
    .updateTable("removed_calls")
    .set({ created_at: now })
    .where("token_id", "=", tokenId)
    .where("created_at", ">", now)
    .execute();
}

/** Keeps counting deleted calls, and transfers, for their tokens, until they are older than `since`. */
export async function keepCounting(
  tx: Kysely<Database>,
  calls: readonly Pick<CallRow, "token_id" | "counted_at">[],
  since: number,
  traits: Traits,
): Promise<void> {
  const rows = calls.flatMap(({ token_id, counted_at }): RemovedCallTable[] =>
    token_id === null || counted_at === null || counted_at <= since ? [] : [{ token_id, created_at: counted_at }],
  );
  if (rows.length > 0) await tx.insertInto("removed_calls").values(rows).execute();
  if (since !== Infinity) await forgetCounted(tx, since, traits, MAX_PIECE);
}

/** Forgets some of the deleted calls and transfers that were counted at a time or earlier; returns how many. */
export function forgetCounted(tx: Kysely<Database>, until: number, traits: Traits, limit: number): Promise<number> {
  return deletePiece(tx, traits, {
    table: "removed_calls",
    limit,
    lockedRows: "skip",
    rows: (query) => query.where("created_at", "<=", until).orderBy("created_at"),
  });
}
