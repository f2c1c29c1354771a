import type { CallType } from "../../domain/calls/call.ts";
import type { View } from "../response-types.ts";
import type { BodySchema, Examples } from "../route.ts";
import type { SchemaName } from "../views/all-shapes.ts";
import { BATCH_BODIES, BATCH_RESPONSES } from "./batch-examples.ts";

// Examples in `/openapi.json`, which alone loads this file; a test checks each against its schema.

const INSTANCE_ID = "inst_01k7zq0f8vf1c9m2x4s6t8w0ya";
const CALL_ID = "call_01k7zq3n5de7h9k1m3p5r7t9vb";

const createInstance: Examples = {
  plain: { summary: "An instance", value: { name: "Front desk" } },
  withMetadata: { summary: "With metadata", value: { name: "Front desk", metadata: { branch: "Lisbon", floor: 2 } } },
  withCallerId: {
    summary: "With its own number on a trunk",
    value: {
      name: "Front desk",
      provider: "sip/acme",
      callerId: { phoneNumber: "+12025550124", displayName: "Acme Lisbon" },
    },
  },
};

const updateInstance: Examples = {
  callerId: { summary: "Another number", value: { callerId: "+12025550125" } },
  noCallerId: { summary: "The provider's own number", value: { callerId: null } },
};

const target = { phoneNumber: "+12025550100" };

const createCall: Readonly<Record<CallType, Examples[string]>> = {
  FIXED_TTS: {
    summary: "Speak a text",
    value: {
      instanceId: INSTANCE_ID,
      type: "FIXED_TTS",
      target,
      tts: { text: "Hello, this is a test call.", voiceId: "en-US-1" },
    },
  },
  FIXED_AUDIO: {
    summary: "Play an audio file",
    value: {
      instanceId: INSTANCE_ID,
      type: "FIXED_AUDIO",
      target,
      audio: { audioBase64: "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=" },
    },
  },
  DYNAMIC_STREAM: {
    summary: "Stream audio live (preview)",
    value: { instanceId: INSTANCE_ID, type: "DYNAMIC_STREAM", target },
  },
  DYNAMIC_AGENT: {
    summary: "Let an agent conduct the call by a script",
    value: {
      instanceId: INSTANCE_ID,
      type: "DYNAMIC_AGENT",
      target,
      agent: { instructions: ["Ask visit: Will you come tomorrow? Press 1 for yes, 2 for no.", "Say: Thank you."] },
    },
  },
};

const createdCall: View<"CreatedCall"> = {
  id: CALL_ID,
  instance_id: INSTANCE_ID,
  type: "FIXED_TTS",
  status: "QUEUED",
  target_phone: "+12025550100",
  created_at: "2026-01-31T12:00:00.000Z",
};

const call: View<"Call"> = {
  ...createdCall,
  status: "COMPLETED",
  started_at: "2026-01-31T12:00:03.250Z",
  ended_at: "2026-01-31T12:00:09.870Z",
};

const instance: View<"Instance"> = {
  id: INSTANCE_ID,
  name: "Front desk",
  status: "CREATED",
  metadata: { branch: "Lisbon", floor: 2 },
  created_at: "2026-01-31T11:58:00.000Z",
  updated_at: "2026-01-31T11:58:00.000Z",
};

const instanceDetails: View<"InstanceDetails"> = {
  ...instance,
  status: "ACTIVE",
  callQueue: [
    {
      id: CALL_ID,
      type: "FIXED_TTS",
      status: "RINGING",
      target_phone: "+12025550100",
      created_at: "2026-01-31T12:00:00.000Z",
    },
  ],
};

const linkingCode: View<"LinkingCode"> = {
  instanceId: INSTANCE_ID,
  qrCodeBase64: "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAIAQAAAADsdIMmAAAADElEQVQI12NgIA0AAAAwAAHHqoWOAAAAAElFTkSuQmCC",
  message: "Scan this code with the messaging application on the phone.",
};

const LINK_TICKET = `${INSTANCE_ID}.mkz9s3k0.5d0b3a2f9c4e8d716f0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60`;

const linkPage: View<"LinkPage"> = {
  url: `https://voice.example/link-page/${LINK_TICKET}`,
  expires_at: "2026-01-31T13:00:00.000Z",
};

const linkPageState: View<"LinkPageState"> = {
  name: "Front desk",
  linked: true,
  phone: "+12025550123",
  qrCodeBase64: null,
};

const event: View<"Event"> = {
  id: "evt_01k7zq3q8rf2j4m6p8s0v2x4zc",
  type: "answered",
  timestamp: "2026-01-31T12:00:03.250Z",
  call_id: CALL_ID,
  instance_id: INSTANCE_ID,
  sequence: 4,
  data: {},
};

const streamTicket: View<"StreamTicket"> = {
  ticket: "0Qm4Zr8WkX2vYb6TnJ1sLdE5uGcA9hPfR3xKiOqV7wM",
  expires_at: "2026-01-31T12:01:00.000Z",
  url: `wss://voice.example/v1/calls/${CALL_ID}/stream?ticket=0Qm4Zr8WkX2vYb6TnJ1sLdE5uGcA9hPfR3xKiOqV7wM`,
};

const voice: View<"Voice"> = {
  id: "en-US-1",
  language: "en-US",
  engine: "flite",
  name: "slt",
  quality: "robotic",
  alias_of: "en-US-7",
  sample_url: "https://voice.example/v1/voices/en-US-1/sample.wav",
};

const createWebhook: Examples = {
  all: { summary: "Every event", value: { url: "https://example.com/ringport" } },
  final: {
    summary: "How calls end",
    value: { url: "https://example.com/ringport", events: ["completed", "failed"], description: "CRM" },
  },
  headers: {
    summary: "With a header for a gateway",
    value: { url: "https://example.com/ringport", headers: { Authorization: "Bearer 7f3a9c" } },
  },
};

const updateWebhook: Examples = {
  events: { summary: "Other types", value: { events: ["completed"] } },
  enable: { summary: "Resume deliveries", value: { enabled: true } },
};

const webhook: View<"Webhook"> = {
  id: "hook_01k7zq5r9te2f4h6k8n0q2s4vw",
  url: "https://example.com/ringport",
  events: ["completed", "failed"],
  description: "CRM",
  header_names: ["authorization"],
  enabled: true,
  disabled_reason: null,
  created_at: "2026-01-31T11:59:00.000Z",
  updated_at: "2026-01-31T11:59:00.000Z",
};

const webhookWithSecret: View<"WebhookWithSecret"> = {
  ...webhook,
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=",
};

const delivery: View<"WebhookDelivery"> = {
  id: "dlv_01k7zq7t1vg4h6k8n0q2s4v6xz",
  webhook_id: webhook.id,
  event_id: event.id,
  event_type: "completed",
  status: "pending",
  attempts: 1,
  next_attempt_at: "2026-01-31T12:00:15.300Z",
  last_attempt_at: "2026-01-31T12:00:10.020Z",
  last_status: 503,
  last_error: "the endpoint responded with 503",
  created_at: "2026-01-31T12:00:10.000Z",
};

const putConsent: Examples = {
  granted: { summary: "It may be called", value: { status: "granted", source: "web form of 2026-01-31" } },
  doNotCall: { summary: "It must not be called", value: { status: "do_not_call", source: "said so on a call" } },
};

const audioFile: View<"AudioFile"> = {
  id: "audio_01k7zq7t1vg4h6k8n0q2s4v6xz",
  name: "Greeting",
  sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  format: "wav",
  bytes: 480_044,
  duration_ms: 30_000,
  truncated: false,
  created_at: "2026-01-31T12:00:00.000Z",
  expires_at: null,
};

const consent: View<"Consent"> = {
  phone: "+12025550100",
  status: "granted",
  source: "web form of 2026-01-31",
  created_at: "2026-01-31T12:00:00.000Z",
  updated_at: "2026-01-31T12:00:00.000Z",
};

/** Examples of request bodies, by schema. */
export const BODY_EXAMPLES: Readonly<Record<BodySchema, Examples>> = {
  CreateInstance: createInstance,
  UpdateInstance: updateInstance,
  CreateCall: createCall,
  CreateWebhook: createWebhook,
  UpdateWebhook: updateWebhook,
  CreateAudio: {
    greeting: {
      summary: "Store a file for 30 days",
      value: {
        audio: { audioBase64: "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=" },
        name: "Greeting",
        expiresInMs: 2_592_000_000,
      },
    },
  },
  PutConsent: putConsent,
  ...BATCH_BODIES,
  CreatePairingCode: { phone: { summary: "For the phone with this number", value: { phone: "+12025550100" } } },
};

/** An example of each response, by schema. */
export const RESPONSE_EXAMPLES: { readonly [Name in SchemaName]?: View<Name> } = {
  ...BATCH_RESPONSES,
  Call: call,
  AudioFile: audioFile,
  AudioFileList: [audioFile],
  Consent: consent,
  ConsentList: [consent],
  CallList: [call],
  CreatedCall: createdCall,
  EventList: [event],
  Instance: instance,
  InstanceDetails: instanceDetails,
  InstanceList: [instance],
  LinkingCode: linkingCode,
  LinkPage: linkPage,
  LinkPageState: linkPageState,
  PairingCode: {
    instanceId: INSTANCE_ID,
    pairingCode: "7GQ4-M2XK",
    expires_at: "2026-01-31T12:03:00.000Z",
    message: "Type this code on the phone with the number +12025550100.",
  },
  State: { status: "ok" },
  StreamTicket: streamTicket,
  VoiceList: [voice],
  Webhook: webhook,
  WebhookDelivery: delivery,
  WebhookDeliveryList: [delivery],
  WebhookList: [webhook],
  WebhookWithSecret: webhookWithSecret,
};
