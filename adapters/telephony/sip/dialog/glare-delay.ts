import type { AgentContext } from "./agent-context.ts";

/**
 * How long we wait after a 491 before we ask again, ms: 2.1 to 4 s in steps of 10 ms, since the Call-ID is ours (RFC
 * 3261 section 14.1).
 */
export function glareDelay(context: AgentContext): number {
  return 2100 + 10 * context.lot(191);
}
