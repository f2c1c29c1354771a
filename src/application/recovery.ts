import type { Context } from "./context.ts";
import { failCall } from "./stored-calls.ts";

const BATCH = 200;

/**
 * Settles what a process that died left behind, before anything new begins: its calls on the line are
 * `FAILED/interrupted`, its claims and half-done idempotent requests are free again. Nothing else is touched.
 */
export async function recover(context: Context): Promise<void> {
  const { calls, receipts } = context.storage;
  for (;;) {
    const orphans = await calls.orphaned(BATCH);
    let settled = 0;
    for (const call of orphans)
      if (await failCall(context, call, "interrupted", "the server stopped in the middle of it")) settled++;
    if (orphans.length < BATCH || settled === 0) break;
  }
  await calls.releaseClaims();
  await receipts.abandonUnfinished();
}
