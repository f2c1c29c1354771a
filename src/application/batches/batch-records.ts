import type { Principal } from "../../domain/access/principal.ts";
import type { Batch, BatchTarget } from "../../domain/batches/batch.ts";
import type { Fact } from "../../domain/events.ts";
import type { EventSubject } from "../calls/event-log.ts";

/** The user of a batch, with the limits of the token that created it. */
export function batchPrincipal({ userId, tokenId, allowedPrefixes, maxCallsPerDay }: Batch): Principal {
  return {
    userId,
    ...(tokenId !== null && { tokenId }),
    ...(allowedPrefixes && { allowedPrefixes }),
    ...(maxCallsPerDay !== undefined && { maxCallsPerDay }),
  };
}

/** The subject of events of a batch. */
export function batchSubject({ userId }: Pick<Batch, "userId">): EventSubject {
  return { callId: null, instanceId: null, userId };
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
