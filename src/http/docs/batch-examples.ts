import type { View } from "../response-types.ts";
import type { BodySchema, Examples } from "../route.ts";
import type { SchemaName } from "../views/all-shapes.ts";

const INSTANCE_ID = "inst_01k7zq0f8vf1c9m2x4s6t8w0ya";
const BATCH_ID = "batch_01k7zq8w3xg4h6k8n0q2s4v6yb";

const createBatch: Examples = {
  speak: {
    summary: "Speak a text to a list, tomorrow from ten",
    value: {
      name: "Reminders",
      instanceIds: [INSTANCE_ID],
      message: { type: "FIXED_TTS", tts: { text: "Hello {{name}}, see you at {{time}}.", voiceId: "en-US-1" } },
      targets: [{ phoneNumber: "+12025550100", variables: { name: "Ada", time: "ten" }, reference: "visit-17" }],
      schedule: { startAt: "2027-02-01T15:00:00.000Z", hours: { from: "09:00", to: "18:00", days: [1, 2, 3, 4, 5] } },
      retry: { on: ["busy", "no_answer"], times: 2, afterMs: 900_000 },
    },
  },
};

const batch: View<"Batch"> = {
  id: BATCH_ID,
  name: "Reminders",
  status: "RUNNING",
  reason: null,
  instance_ids: [INSTANCE_ID],
  type: "FIXED_TTS",
  schedule: { start_at: null, end_at: null, hours: { from: "09:00", to: "18:00", days: null }, zone: "callee" },
  retry: { on: ["busy"], times: 2, backoff: { first_ms: 900_000, factor: 1, max_ms: 2_592_000_000 } },
  max_concurrent: null,
  gap_ms: 900_000,
  breaker: { share: 0.5, calls: 20 },
  created_at: "2026-01-31T11:59:00.000Z",
  updated_at: "2026-01-31T12:00:00.000Z",
  started_at: "2026-01-31T12:00:00.000Z",
  ended_at: null,
};

const batchDetails: View<"BatchDetails"> = {
  ...batch,
  message: { type: "FIXED_TTS", tts: { text: "Hello {{name}}.", voiceId: "en-US-1" } },
  counts: {
    targets: 300,
    by_status: { WAITING: 200, COMPLETED: 99, INVALID: 1 },
    by_reason: [{ status: "COMPLETED", reason: "message_played", targets: 99 }],
    waiting_after: [{ reason: "busy", targets: 12 }],
  },
  estimated_end_at: "2026-01-31T13:10:00.000Z",
};

const importReport: View<"ImportReport"> = {
  rows: 2,
  stored: { WAITING: 1, INVALID: 1 },
  faults: [
    {
      row: 3,
      position: 2,
      phone_number: "12",
      faults: [
        { column: "phoneNumber", code: "phone_number_invalid", detail: "must be a number such as +12025550100" },
      ],
    },
  ],
};

const batchTarget: View<"BatchTarget"> = {
  position: 1,
  row: 2,
  phone_number: "+12025550100",
  variables: { name: "Ada" },
  reference: "visit-17",
  metadata: {},
  status: "WAITING",
  faults: [],
  attempts: 0,
  next_attempt_at: "2026-01-31T12:00:00.000Z",
  waiting: { reason: "line", after: null, until: null },
  call_id: null,
  reason: null,
  result: null,
  updated_at: "2026-01-31T12:00:00.000Z",
};

/** Examples of the request bodies about batches, by schema. */
export const BATCH_BODIES: Readonly<
  Record<Extract<BodySchema, `${string}Batch` | `${string}Target${string}`>, Examples>
> = {
  CreateBatch: createBatch,
  StartBatch: { skip: { summary: "Without the invalid targets", value: { skipInvalid: true } } },
  CancelBatch: { end: { summary: "End live calls too", value: { liveCalls: "end" } } },
  AddTargets: {
    one: {
      summary: "One target",
      value: { targets: [{ phoneNumber: "+12025550100", variables: { name: "Ada" }, reference: "visit-17" }] },
    },
  },
  UpdateTarget: { number: { summary: "Another number", value: { phoneNumber: "+12025550101" } } },
};

/** An example of each response about batches, by schema. */
export const BATCH_RESPONSES: { readonly [Name in SchemaName]?: View<Name> } = {
  Batch: batch,
  BatchDetails: batchDetails,
  BatchList: [batch],
  BatchTarget: batchTarget,
  BatchTargetList: [batchTarget],
  CreatedBatch: { ...batchDetails, report: importReport },
  ImportReport: importReport,
};
