import * as v from "valibot";
import { Event, WebhookTest } from "./schemas/event-schemas.ts";
import { ListenEnded, ListenGap, ListenStarted, ListenWaiting } from "./schemas/listen-schemas.ts";
import { Fault, Problem } from "./schemas/problem-schemas.ts";
import { shape } from "./schemas/shape.ts";
import {
  StreamCallEvent,
  StreamError,
  StreamProgress,
  StreamTicket,
  StreamTranscript,
} from "./schemas/stream-schemas.ts";
import { CallMetrics, Outcome, TranscriptLine, TurnMetrics } from "./views/call-details.ts";
import { Call, CallerId, CallSummary, CreatedCall } from "./views/call-view.ts";
import { Consent } from "./views/consent-view.ts";
import {
  Connection,
  Instance,
  InstanceDetails,
  LinkingCode,
  LinkPage,
  LinkPageState,
  PairingCode,
} from "./views/instance-view.ts";
import { CallQuality, QualityInterval, Recording, StreamStatistics } from "./views/media-view.ts";
import { Voice } from "./views/voice-view.ts";
import { Webhook, WebhookDelivery, WebhookWithSecret } from "./views/webhook-view.ts";

const State = shape("The state of the server.", { status: v.picklist(["ok", "ready"]) });

/**
 * The JSON shapes of all responses and stream messages, each written once: `/openapi.json` publishes them, and
 * `answers.ts` is generated from them for TypeScript.
 */
export const SCHEMAS = {
  CallSummary,
  CreatedCall,
  TranscriptLine,
  TurnMetrics,
  CallMetrics,
  QualityInterval,
  CallQuality,
  Outcome,
  StreamStatistics,
  Recording,
  Call,
  CallList: v.array(Call),
  CallerId,
  Instance,
  InstanceList: v.array(Instance),
  Connection,
  InstanceDetails,
  LinkingCode,
  LinkPage,
  LinkPageState,
  PairingCode,
  Event,
  EventList: v.array(Event),
  Webhook,
  WebhookList: v.array(Webhook),
  WebhookWithSecret,
  WebhookTest,
  WebhookDelivery,
  WebhookDeliveryList: v.array(WebhookDelivery),
  Consent,
  ConsentList: v.array(Consent),
  Voice,
  VoiceList: v.array(Voice),
  StreamTicket,
  StreamTranscript,
  StreamCallEvent,
  StreamProgress,
  StreamError,
  ListenWaiting,
  ListenStarted,
  ListenGap,
  ListenEnded,
  Fault,
  Problem,
  State,
};

export type SchemaName = keyof typeof SCHEMAS;
