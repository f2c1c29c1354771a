import { deadline } from "../application/deadline.ts";
import { type Call, isActive } from "../domain/call.ts";
import type { Principal } from "../domain/principal.ts";
import type { HttpDependencies } from "./dependencies.ts";
import type { PreferredWait } from "./wait-preference.ts";

/**
 * The call once it is final, or as it is after the wait.
 * @throws {Refusal} `call_not_found`, and `stopping` if this process stops before the call has ended
 */
export async function finalCall(
  { calls, system }: Pick<HttpDependencies, "calls" | "system">,
  caller: Principal,
  callId: string,
  wait: PreferredWait | undefined,
): Promise<Call> {
  const call = await calls.get(caller, callId);
  if (!wait || !isActive(call.status)) return call;
  const { signal, cancel } = deadline(system, wait.waitMs, wait.signal);
  try {
    return await calls.wait(caller, callId, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
    return await calls.get(caller, callId);
  } finally {
    cancel();
  }
}
