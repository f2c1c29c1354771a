import type { Call } from "../domain/call.ts";
import type { Context } from "./context.ts";
import { failCall } from "./stored-calls.ts";

const BATCH = 200;

/**
 * Settles what a process that died left behind, before anything new begins: its calls on the line are
 * `FAILED/interrupted`, those that wait for an instance it was deleting `FAILED/instance_deleted`, its claims and
 * half-done idempotent requests are free again. Nothing else is touched.
 */
export async function recover(context: Context): Promise<void> {
  const { calls, receipts } = context.storage;
  for (;;) {
    const orphans = await calls.orphaned(BATCH);
    let settled = 0;
    for (const call of orphans) if (await settle(context, call)) settled++;
    if (orphans.length < BATCH || settled === 0) break;
  }
  await calls.releaseClaims();
  await receipts.abandonUnfinished();
}

function settle(context: Context, call: Call): Promise<boolean> {
  if (call.status === "QUEUED") return failCall(context, call, "instance_deleted", null);
  return failCall(context, call, "interrupted", "the server stopped in the middle of it");
}
