import { nextState } from "../../base/state-machine.ts";
import type { Principal } from "../../domain/access/principal.ts";
import {
  BATCH_TRANSITIONS,
  type Batch,
  type BatchMove,
  type BatchTarget,
  type TargetStatus,
} from "../../domain/batches/batch.ts";
import type { Fact } from "../../domain/events.ts";
import type { EventSubject } from "../calls/event-log.ts";
import type { Context } from "../context.ts";

/** Number of targets in each state. */
type TargetCounts = Readonly<Partial<Record<TargetStatus, number>>>;

/** The user of a batch, with the limits of the token that created it. */
export function batchPrincipal({ userId, tokenId, allowedPrefixes, maxCallsPerDay }: Batch): Principal {
  return {
    userId,
    ...(tokenId !== null && { tokenId }),
    ...(allowedPrefixes && { allowedPrefixes }),
    ...(maxCallsPerDay !== undefined && { maxCallsPerDay }),
  };
}

/** The fact that a target has ended, with its subject. */
export function targetDone(batch: Batch, target: BatchTarget): [Fact, EventSubject] {
  const { position, status, attempts, reason } = target;
  const data = {
    batch_id: batch.id,
    position,
    status,
    reason: reason ?? "interrupted",
    attempts,
    call_id: target.callId,
  };
  return [{ event: "target_done", data }, batchSubject(batch)];
}

/**
 * Stores a move of a batch together with its event, and publishes the event. Returns the batch as stored; `illegal` if
 * the state table has no such move; undefined if another write came first: read the batch again.
 */
export async function moveBatch(
  { events, storage, system }: Pick<Context, "events" | "storage" | "system">,
  batch: Batch,
  move: BatchMove,
  reason: string | null = null,
): Promise<Batch | "illegal" | undefined> {
  const status = nextState(BATCH_TRANSITIONS, batch.status, move);
  if (!status) return "illegal";
  const isEnd = move === "complete" || move === "cancel";
  const targets = isEnd ? (await storage.batches.counts(batch.id)).byStatus : {};
  const now = system.now();
  const event = events.event(moveFact(batch, move, reason, targets), batchSubject(batch), now);
  const times = { ...(move === "begin" && { startedAt: now }), ...(isEnd && { endedAt: now }) };
  const patch = { status, reason, updatedAt: now, ...times };
  const movedBatch = await storage.batches.update(batch.id, batch.version, patch, [event]);
  if (movedBatch) events.publish([event]);
  return movedBatch;
}

function batchSubject({ userId }: Batch): EventSubject {
  return { callId: null, instanceId: null, userId };
}

function moveFact(batch: Batch, move: BatchMove, reason: string | null, targets: TargetCounts): Fact {
  const reference = { batch_id: batch.id };
  switch (move) {
    case "schedule":
      return {
        event: "batch_scheduled",
        data: { ...reference, start_at: new Date(batch.schedule.startAt ?? 0).toISOString() },
      };
    case "begin":
      return { event: "batch_started", data: reference };
    case "pause":
      return { event: "batch_paused", data: { ...reference, reason: reason ?? "requested" } };
    case "resume":
      return { event: "batch_resumed", data: reference };
    case "complete":
      return { event: "batch_completed", data: { ...reference, targets: targets as Record<string, number> } };
    case "cancel":
      return { event: "batch_cancelled", data: { ...reference, targets: targets as Record<string, number> } };
  }
}
