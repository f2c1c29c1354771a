import type { Call } from "../../../src/domain/call.ts";
import type { Instance } from "../../../src/domain/instance.ts";

/** A stored instance. */
export function storedInstance(id: string): Instance {
  return {
    id,
    userId: "usr_1",
    name: "Reception",
    status: "ACTIVE",
    metadata: {},
    provider: "simulator",
    phone: null,
    createdAt: 1,
    updatedAt: 1,
    erasedAt: null,
    version: 1,
  };
}

/** A stored waiting call. */
export function storedCall(id: string, instanceId: string, patch: Partial<Call> = {}): Call {
  return {
    id,
    instanceId,
    userId: "usr_1",
    tokenId: null,
    status: "QUEUED",
    targetPhone: "+15550100",
    message: { type: "DYNAMIC_STREAM" },
    outcome: null,
    mediaStatistics: null,
    recordedMs: null,
    createdAt: 1,
    startedAt: null,
    endedAt: null,
    slot: 0,
    owner: null,
    dialingAt: null,
    version: 1,
    ...patch,
  };
}
