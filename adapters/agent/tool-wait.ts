import { pause } from "../../src/base/timers.ts";
import { realSystem } from "../../src/ports/system.ts";

/** Time after which the agent asks the callee to wait for a tool, ms. */
export const TOOL_WAIT_MS = 1_500;

/** Waits at most `ms` for the work; resolves with true if it is still running. */
export async function isSlow(work: Promise<unknown>, ms: number, signal: AbortSignal): Promise<boolean> {
  const timeoutScope = new AbortController();
  const timeout = pause(realSystem, ms, AbortSignal.any([signal, timeoutScope.signal])).then(() => true);
  const isRunning = await Promise.race([work.then(() => false), timeout]);
  timeoutScope.abort();
  return isRunning && !signal.aborted;
}
