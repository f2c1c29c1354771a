import * as v from "valibot";
import { audioFileShape } from "./audio-view.ts";
import {
  batchCountsShape,
  batchDetailsShape,
  batchPlanShape,
  batchRetryShape,
  batchScheduleShape,
  batchShape,
  batchTargetShape,
  createdBatchShape,
  importReportShape,
  plannedInstanceShape,
  rowFaultsShape,
  targetFaultShape,
  targetResultShape,
  targetWaitShape,
} from "./batch-shapes.ts";
import { callMetricsShape, outcomeShape, transcriptLineShape, turnMetricsShape } from "./call-details.ts";
import { callerIdShape, callShape, callSummaryShape, createdCallShape } from "./call-view.ts";
import { consentShape } from "./consent-view.ts";
import { eventShape, webhookTestShape } from "./event-shapes.ts";
import {
  connectionShape,
  instanceDetailsShape,
  instanceShape,
  linkingCodeShape,
  linkPageShape,
  linkPageStateShape,
  pairingCodeShape,
} from "./instance-view.ts";
import { callQualityShape, qualityIntervalShape, recordingShape, streamStatisticsShape } from "./media-view.ts";
import { shape } from "./shape.ts";
import {
  listenEndedShape,
  listenGapShape,
  listenStartedShape,
  listenWaitingShape,
  streamCallEventShape,
  streamErrorShape,
  streamProgressShape,
  streamTicketShape,
  streamTranscriptShape,
} from "./stream-shapes.ts";
import { voiceShape } from "./voice-view.ts";
import { webhookDeliveryShape, webhookShape, webhookWithSecretShape } from "./webhook-view.ts";

const faultShape = shape("One fault of a request.", {
  pointer: v.pipe(
    v.string(),
    v.description('JSON Pointer into the body; "" for the body itself, and for a fault outside of the body.'),
  ),
  parameter: v.optional(v.pipe(v.string(), v.description("The query parameter that is wrong."))),
  code: v.string(),
  detail: v.string(),
});

const problemShape = shape("An error (RFC 9457).", {
  type: v.pipe(v.string(), v.description("Address of the page that explains the code.")),
  title: v.string(),
  status: v.pipe(v.number(), v.integer(), v.minValue(400), v.maxValue(599)),
  detail: v.string(),
  instance: v.pipe(v.string(), v.description("The path of the request.")),
  code: v.pipe(v.string(), v.description("Stable, for programs.")),
  request_id: v.string(),
  errors: v.optional(v.pipe(v.array(faultShape), v.description("With 400: every fault."))),
  limit: v.optional(
    v.pipe(
      v.number(),
      v.description("With 413: maximum bytes of a body. With `daily_call_limit`: maximum calls in 24 hours."),
    ),
  ),
});

const State = shape("The state of the server.", {
  status: v.picklist(["ok", "ready"]),
  audio: v.pipe(
    v.optional(v.literal("overloaded")),
    v.description("Present while new calls over SIP wait because the audio of the live ones is late."),
  ),
});

/**
 * The JSON shapes of all responses and stream messages, each written once: `/openapi.json` publishes them, and
 * `response-types.ts` is generated from them for TypeScript.
 */
export const SCHEMAS = {
  CallSummary: callSummaryShape,
  CreatedCall: createdCallShape,
  TranscriptLine: transcriptLineShape,
  TurnMetrics: turnMetricsShape,
  CallMetrics: callMetricsShape,
  QualityInterval: qualityIntervalShape,
  CallQuality: callQualityShape,
  Outcome: outcomeShape,
  StreamStatistics: streamStatisticsShape,
  Recording: recordingShape,
  Call: callShape,
  CallList: v.array(callShape),
  CallerId: callerIdShape,
  Instance: instanceShape,
  InstanceList: v.array(instanceShape),
  Connection: connectionShape,
  InstanceDetails: instanceDetailsShape,
  LinkingCode: linkingCodeShape,
  LinkPage: linkPageShape,
  LinkPageState: linkPageStateShape,
  PairingCode: pairingCodeShape,
  Event: eventShape,
  EventList: v.array(eventShape),
  Webhook: webhookShape,
  WebhookList: v.array(webhookShape),
  WebhookWithSecret: webhookWithSecretShape,
  WebhookTest: webhookTestShape,
  WebhookDelivery: webhookDeliveryShape,
  WebhookDeliveryList: v.array(webhookDeliveryShape),
  Batch: batchShape,
  BatchList: v.array(batchShape),
  BatchSchedule: batchScheduleShape,
  BatchRetry: batchRetryShape,
  BatchCounts: batchCountsShape,
  BatchDetails: batchDetailsShape,
  CreatedBatch: createdBatchShape,
  BatchPlan: batchPlanShape,
  PlannedInstance: plannedInstanceShape,
  BatchTarget: batchTargetShape,
  BatchTargetList: v.array(batchTargetShape),
  TargetWait: targetWaitShape,
  ImportReport: importReportShape,
  RowFaults: rowFaultsShape,
  TargetFault: targetFaultShape,
  TargetResult: targetResultShape,
  AudioFile: audioFileShape,
  AudioFileList: v.array(audioFileShape),
  Consent: consentShape,
  ConsentList: v.array(consentShape),
  Voice: voiceShape,
  VoiceList: v.array(voiceShape),
  StreamTicket: streamTicketShape,
  StreamTranscript: streamTranscriptShape,
  StreamCallEvent: streamCallEventShape,
  StreamProgress: streamProgressShape,
  StreamError: streamErrorShape,
  ListenWaiting: listenWaitingShape,
  ListenStarted: listenStartedShape,
  ListenGap: listenGapShape,
  ListenEnded: listenEndedShape,
  Fault: faultShape,
  Problem: problemShape,
  State,
};

export type SchemaName = keyof typeof SCHEMAS;
