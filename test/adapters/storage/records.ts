import type { Batch } from "../../../src/domain/batches/batch.ts";
import type { Call } from "../../../src/domain/calls/call.ts";
import type { Event } from "../../../src/domain/events.ts";
import type { Instance } from "../../../src/domain/instances/instance.ts";
import type { Webhook, WebhookDelivery } from "../../../src/domain/webhooks/webhook.ts";
import type {
  CodePurpose,
  CodeRecord,
  NewAccount,
  NewTarget,
  SessionRecord,
  TokenRecord,
} from "../../../src/ports/storage.ts";

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
    line: null,
    version: 1,
    ...patch,
  };
}

export function storedEvent(id: string, callId: string | null): Event {
  const type = callId === null ? "instance.created" : "queued";
  return { id, type, timestamp: 1, callId, instanceId: "inst_1", userId: "usr_1", data: {} } as Event;
}

export function storedToken(id: string): TokenRecord {
  return {
    id,
    userId: "usr_1",
    label: "laptop",
    hash: `hash of ${id}`,
    demoInstanceId: null,
    allowedPrefixes: null,
    maxCallsPerDay: null,
    scopes: null,
    createdAt: 1,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
  };
}

export function storedAccount(id: string): NewAccount["account"] {
  return { id, email: `${id}@example.com`, passwordHash: "hash", role: "member", createdAt: 1 };
}

export function storedSession(id: string): SessionRecord {
  const times = { createdAt: 1, lastUsedAt: 1, expiresAt: 9 };
  return { id, accountId: "acc_1", hash: `hash of ${id}`, ...times, userAgent: null };
}

export function storedCode(purpose: CodePurpose): CodeRecord {
  const hash = `hash of ${purpose}`;
  return { id: `code_${purpose}`, purpose, hash, accountId: "acc_1", createdAt: 1, expiresAt: 9 };
}

export function storedWebhook(id: string): Webhook {
  return {
    id,
    userId: "usr_1",
    url: "https://example.com",
    events: null,
    description: null,
    headerNames: [],
    sealedHeaders: null,
    disabledReason: null,
    sealedKey: Uint8Array.of(1),
    sealedOldKey: null,
    oldKeyUntil: null,
    position: 0,
    createdAt: 1,
    updatedAt: 1,
    version: 1,
  };
}

/** A pending delivery. */
export function storedDelivery(id: string, webhookId: string, patch: Partial<WebhookDelivery> = {}): WebhookDelivery {
  return {
    id,
    webhookId,
    eventId: "evt_1",
    eventType: "queued",
    body: null,
    status: "pending",
    attempts: 0,
    nextAttemptAt: 1,
    lastAttemptAt: null,
    lastStatus: null,
    lastError: null,
    createdAt: 1,
    ...patch,
  };
}

export function storedBatch(id: string): Batch {
  return {
    id,
    userId: "usr_1",
    tokenId: null,
    name: "Reminders",
    status: "DRAFT",
    instanceIds: ["inst_1"],
    message: { type: "FIXED_TTS", tts: { text: "Hello", voiceId: "en-US-1" } },
    schedule: {},
    gapMs: 0,
    reason: null,
    lastPosition: 0,
    startedAt: null,
    endedAt: null,
    createdAt: 1,
    updatedAt: 1,
    version: 1,
  };
}

export function storedTarget(row: number, patch: Partial<NewTarget> = {}): NewTarget {
  const phone = `+1202555${1000 + row}`;
  return {
    row,
    phone,
    phoneKey: phone,
    status: "WAITING",
    zones: "",
    nextAttemptAt: 0,
    reason: null,
    updatedAt: 1,
    ...patch,
  };
}
