import type {
  BatchDetails,
  BatchPlan,
  BatchUseCases,
  TargetDetails,
} from "../../../src/application/batches/batch-use-cases.ts";
import type { Batch } from "../../../src/domain/batches/batch.ts";
import { Refusal } from "../../../src/domain/refusal.ts";

export const BATCH_ID = "batch_01k7zq8w3xg4h6k8n0q2s4v6yb";
const NOW = Date.UTC(2026, 0, 31, 12);
const INSTANCE_ID = "inst_01k7zq0f8vf1c9m2x4s6t8w0ya";

export const batch = (overrides: Partial<Batch> = {}): Batch => ({
  id: BATCH_ID,
  userId: "usr_anna",
  tokenId: null,
  name: "Reminders",
  status: "DRAFT",
  instanceIds: [INSTANCE_ID],
  message: { type: "FIXED_TTS", tts: { text: "Hello {{name}}", voiceId: "en-US-1" } },
  schedule: {},
  gapMs: 900_000,
  reason: null,
  lastPosition: 1,
  startedAt: null,
  endedAt: null,
  createdAt: NOW,
  updatedAt: NOW,
  version: 1,
  ...overrides,
});

export const batchDetails = (overrides: Partial<BatchDetails> = {}): BatchDetails => ({
  ...batch(overrides),
  counts: { byStatus: { WAITING: 1 }, byReason: [], waitingAfter: [] },
  estimatedEndAt: null,
  ...overrides,
});

export const target = (overrides: Partial<TargetDetails> = {}): TargetDetails => ({
  batchId: BATCH_ID,
  position: 1,
  row: 1,
  phone: "+12025550101",
  variables: { name: "Ada" },
  status: "WAITING",
  phoneKey: "+12025550101",
  zones: "America/New_York",
  attempts: 0,
  nextAttemptAt: NOW,
  callId: null,
  reason: null,
  updatedAt: NOW,
  version: 1,
  waiting: null,
  ...overrides,
});

export const plan = (overrides: Partial<BatchPlan> = {}): BatchPlan => ({
  targets: { WAITING: 1, INVALID: 0 },
  faults: [],
  problems: [],
  instances: [
    { instanceId: INSTANCE_ID, name: "Front desk", phone: null, calls: 1, lines: 1, paceMs: 0, blocked: null },
  ],
  startsAt: NOW,
  endsAt: NOW + 30_000,
  callMs: 30_000,
  callMsSource: "assumed",
  calls: [{ position: 1, phone: "+12025550101", instanceId: INSTANCE_ID, at: NOW }],
  ...overrides,
});

/** Use cases with one batch and one target. */
export function batchUseCases(): BatchUseCases {
  const assertKnown = async (id: string): Promise<void> => {
    if (id !== BATCH_ID) throw new Refusal("batch_not_found", "there is no such batch");
  };
  const details = (_: unknown, id: string) => assertKnown(id).then(() => batchDetails());
  return {
    create: async () => ({
      ...batchDetails(),
      created: true,
      replayed: false,
      report: { rows: 1, stored: { WAITING: 1 }, faults: [] },
    }),
    dryRun: async () => plan(),
    list: async () => [batch()],
    get: details,
    delete: (_, id) => assertKnown(id),
    async addTargets(_, id, rows) {
      await assertKnown(id);
      let count = 0;
      for await (const _row of rows) count++;
      return { rows: count, stored: { WAITING: count }, faults: [] };
    },
    targets: (_, id) => assertKnown(id).then(() => [target()]),
    updateTarget: (_, id) => assertKnown(id).then(() => target()),
    removeTarget: (_, id) => assertKnown(id),
    plan: (_, id) => assertKnown(id).then(() => plan()),
    start: details,
    pause: details,
    resume: details,
    cancel: details,
  };
}
