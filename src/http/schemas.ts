import * as v from "valibot";
import { eventShape, webhookTestShape } from "./schemas/event-schemas.ts";
import { listenEndedShape, listenGapShape, listenStartedShape, listenWaitingShape } from "./schemas/listen-schemas.ts";
import { faultShape, problemShape } from "./schemas/problem-schemas.ts";
import { shape } from "./schemas/shape.ts";
import {
  streamCallEventShape,
  streamErrorShape,
  streamProgressShape,
  streamTicketShape,
  streamTranscriptShape,
} from "./schemas/stream-schemas.ts";
import { callMetricsShape, outcomeShape, transcriptLineShape, turnMetricsShape } from "./views/call-details.ts";
import { callerIdShape, callShape, callSummaryShape, createdCallShape } from "./views/call-view.ts";
import { consentShape } from "./views/consent-view.ts";
import {
  connectionShape,
  instanceDetailsShape,
  instanceShape,
  linkingCodeShape,
  linkPageShape,
  linkPageStateShape,
  pairingCodeShape,
} from "./views/instance-view.ts";
import { callQualityShape, qualityIntervalShape, recordingShape, streamStatisticsShape } from "./views/media-view.ts";
import { voiceShape } from "./views/voice-view.ts";
import { webhookDeliveryShape, webhookShape, webhookWithSecretShape } from "./views/webhook-view.ts";

const State = shape("The state of the server.", { status: v.picklist(["ok", "ready"]) });

/**
 * The JSON shapes of all responses and stream messages, each written once: `/openapi.json` publishes them, and
 * `answers.ts` is generated from them for TypeScript.
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
