import type { Call } from "../domain/call.ts";
import type { Context } from "./context.ts";
import { failCall } from "./stored-calls.ts";

const BATCH = 200;

/**
 * Settles what a process that died left behind, before anything new begins: its calls on the line, and those whose phone
 * it may have rung, are `FAILED/interrupted`; those that wait for an instance it was deleting are
 * `FAILED/instance_deleted`; its half-done idempotent requests are free again. Nothing else is touched.
 */
export async function recover(context: Context): Promise<void> {
  const { calls, receipts } = context.storage;
  for (;;) {
    const orphans = await calls.orphaned(BATCH);
    let settled = 0;
    for (const call of orphans) if (await settle(context, call)) settled++;
    if (orphans.length < BATCH || settled === 0) break;
  }
  await receipts.abandonUnfinished();
}

function settle(context: Context, call: Call): Promise<boolean> {
  if (call.status !== "QUEUED")
    return failCall(context, call, "interrupted", "the server stopped before the end of the call was stored");
  if (call.dialingAt === null) return failCall(context, call, "instance_deleted", null);
  return failCall(context, call, "interrupted", "the server stopped while dialing; the callee's phone may have rung");
}
