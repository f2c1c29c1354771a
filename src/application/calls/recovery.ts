import type { Call } from "../../domain/calls/call.ts";
import type { Context } from "../context.ts";
import { retryUntilStored } from "../retry-until-stored.ts";
import { failCall, type StoredCallsContext } from "./stored-calls.ts";

type RecoveryContext = Pick<Context, "log" | "nodeId" | "shutdownSignal" | "storage" | "system"> & StoredCallsContext;

const BATCH_SIZE = 200;
/** Delays before further checks, ms: a database may carry out the last writes of a process after it has died. */
const CHECK_DELAYS_MS = [1_000, 4_000, 15_000];

/**
 * Settles the calls of a dead process before any new call starts: its live calls, and those whose phone it may have
 * rung, become `FAILED/interrupted`; calls waiting for an instance it was deleting become `FAILED/instance_deleted`. No
 * other record is changed.
 */
export async function recover(context: RecoveryContext): Promise<void> {
  await settleOrphans(context);
}

/** Repeats the check until no write of a dead process can follow; returns a function that stops it. */
export function recoverLater(context: RecoveryContext): () => void {
  let cancel = () => {};
  let isStopped = false;
  const scheduleCheck = ([ms, ...laterDelays]: readonly number[]) => {
    if (ms === undefined || isStopped) return;
    cancel = context.system.after(ms, () => {
      settleOrphans(context).then(
        () => scheduleCheck(laterDelays),
        (error: unknown) => {
          if (context.shutdownSignal.aborted) return; // the next start begins with this check
          context.log.error({ err: error }, "the calls of a crashed process could not be checked again");
        },
      );
    });
  };
  scheduleCheck(CHECK_DELAYS_MS);
  return () => {
    isStopped = true;
    cancel();
  };
}

/** Ends the calls that other processes have left behind; only this process uses the database now. */
async function settleOrphans(context: RecoveryContext): Promise<void> {
  const { nodeId, storage } = context;
  for (;;) {
    const orphans = await retryUntilStored(context, "the list of calls of dead processes", () =>
      storage.calls.orphaned(nodeId, BATCH_SIZE),
    );
    if (orphans.length === 0) return;
    // A call changed by a late write is found again in its new state.
    for (const call of orphans) await settle(context, call);
  }
}

function settle(context: RecoveryContext, call: Call): Promise<boolean> {
  if (call.status !== "QUEUED")
    return failCall(context, call, "interrupted", "the server stopped before the end of the call was stored");
  if (call.dialingAt === null) return failCall(context, call, "instance_deleted", null);
  return failCall(context, call, "interrupted", "the server stopped while dialling; the callee's phone may have rung");
}
