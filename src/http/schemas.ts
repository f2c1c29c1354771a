import * as v from "valibot";
import {
  Call,
  CallerId,
  CallMetrics,
  CallQuality,
  CallSummary,
  CreatedCall,
  Outcome,
  QualityInterval,
  Recording,
  StreamStatistics,
  TranscriptLine,
  TurnMetrics,
} from "./schemas/call-schemas.ts";
import { Consent } from "./schemas/consent-schemas.ts";
import { Event, WebhookTest } from "./schemas/event-schemas.ts";
import {
  Connection,
  Instance,
  InstanceDetails,
  LinkingCode,
  LinkPage,
  LinkPageState,
  PairingCode,
} from "./schemas/instance-schemas.ts";
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
import { Webhook, WebhookDelivery, WebhookWithSecret } from "./schemas/webhook-schemas.ts";

const Voice = shape("An available voice.", {
  id: v.string(),
  language: v.pipe(v.string(), v.description("BCP 47.")),
  engine: v.string(),
  name: v.string(),
  quality: v.picklist(["robotic", "natural"]),
  sample_url: v.pipe(v.string(), v.description("Address of a sample as a WAV file, for the same token.")),
});

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
