import type { Call, Outcome } from "../http/response-types.ts";

export type {
  AudioFile,
  Batch,
  BatchDetails,
  BatchPlan,
  BatchTarget,
  Call,
  CallerId,
  CallMetrics,
  CallQuality,
  Consent,
  CreatedBatch,
  CreatedCall,
  Event as CallEvent,
  Fault,
  ImportReport,
  Instance,
  InstanceDetails,
  LinkingCode,
  LinkPage,
  ListenEnded,
  ListenGap,
  ListenStarted,
  ListenWaiting,
  Outcome,
  PairingCode,
  QualityInterval,
  Recording,
  RowFaults,
  StreamError,
  StreamStatistics,
  StreamTicket,
  StreamTranscript,
  TargetFault,
  TargetResult,
  TargetWait,
  TranscriptLine,
  TurnMetrics,
  Voice,
  Webhook,
  WebhookDelivery,
  WebhookTest,
  WebhookWithSecret,
} from "../http/response-types.ts";

/** An optional object of a call. */
export type CallExpansion = "outcome" | "transcript" | "media" | "reference" | "result" | "metrics" | "quality";

/** The fields that an expansion adds. */
type ExpandedFields<E extends CallExpansion> = E extends "reference" ? "reference" | "metadata" : E;

/** A call with the requested objects. */
export type CallWith<E extends CallExpansion> = [E] extends [never]
  ? Call
  : Call & { [Name in ExpandedFields<E>]: Exclude<Call[Name], undefined> };

/** A call that has ended. */
export type FinishedCall = Call & { status: "COMPLETED" | "FAILED"; outcome: Outcome };
