import { isActive } from "../../../domain/calls/call.ts";
import type { Storage } from "../../../ports/storage.ts";
import type { Findings } from "../../call-audio/agents/agent-result.ts";
import { type RetryParts, retryUntilStored } from "../../retry-until-stored.ts";
import type { EventLog } from "../event-log.ts";

interface LateResultParts extends RetryParts {
  readonly storage: Storage;
  readonly events: EventLog;
}

/**
 * Results that agents state after their calls have ended. Each is written to its call with the event `result_ready`.
 */
export class LateResults {
  readonly #pendingWrites = new Set<Promise<void>>();

  /** Stores the findings of a call whose end is stored, as soon as they are known. Returns at once. */
  add(context: LateResultParts, callId: string, findingsPromise: Promise<Findings>): void {
    const storePromise = findingsPromise
      .then((findings) => store(context, callId, findings))
      .catch((error: unknown) =>
        context.log.error({ call_id: callId, err: error }, "the result of a call could not be stored"),
      )
      .finally(() => this.#pendingWrites.delete(storePromise));
    this.#pendingWrites.add(storePromise);
  }

  /** Resolves when no result is pending. */
  async whenIdle(): Promise<void> {
    await Promise.all(this.#pendingWrites);
  }
}

async function store(context: LateResultParts, callId: string, { result, resultError }: Findings): Promise<void> {
  const { storage, events } = context;
  await retryUntilStored(context, `the result of call ${callId}`, async () => {
    for (;;) {
      const call = await storage.calls.get(callId);
      if (!call || isActive(call.status)) return;
      const subject = { callId, instanceId: call.instanceId, userId: call.userId };
      const event = events.event({ event: "result_ready", data: { error: resultError ?? null } }, subject);
      const patch = { ...(result && { result }), resultError };
      if (!(await storage.calls.update(callId, call.version, patch, [event]))) continue; // its recording was deleted in the meantime
      events.publish([event]);
      return;
    }
  });
}
