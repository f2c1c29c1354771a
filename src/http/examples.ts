import type { CallType } from "../domain/call.ts";
import type { View } from "./answers.ts";
import type { Examples } from "./route.ts";

/** Examples in `/openapi.json`; a test checks each against its schema. */

const INSTANCE_ID = "inst_01k7zq0f8vf1c9m2x4s6t8w0ya";
const CALL_ID = "call_01k7zq3n5de7h9k1m3p5r7t9vb";

export const CREATE_INSTANCE_EXAMPLES: Examples = {
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

export const UPDATE_INSTANCE_EXAMPLES: Examples = {
  callerId: { summary: "Another number", value: { callerId: "+12025550125" } },
  noCallerId: { summary: "The provider's own number", value: { callerId: null } },
};

const target = { phoneNumber: "+12025550100" };

export const CREATE_CALL_EXAMPLES: Readonly<Record<CallType, Examples[string]>> = {
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

export const CREATED_CALL_EXAMPLE: View<"CreatedCall"> = {
  id: CALL_ID,
  instance_id: INSTANCE_ID,
  type: "FIXED_TTS",
  status: "QUEUED",
  target_phone: "+12025550100",
  created_at: "2026-01-31T12:00:00.000Z",
};

export const CALL_EXAMPLES: { readonly completed: View<"Call"> } = {
  completed: {
    ...CREATED_CALL_EXAMPLE,
    status: "COMPLETED",
    started_at: "2026-01-31T12:00:03.250Z",
    ended_at: "2026-01-31T12:00:09.870Z",
  },
};

export const INSTANCE_EXAMPLE: View<"Instance"> = {
  id: INSTANCE_ID,
  name: "Front desk",
  status: "CREATED",
  metadata: { branch: "Lisbon", floor: 2 },
  created_at: "2026-01-31T11:58:00.000Z",
  updated_at: "2026-01-31T11:58:00.000Z",
};

export const INSTANCE_DETAILS_EXAMPLE: View<"InstanceDetails"> = {
  ...INSTANCE_EXAMPLE,
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

export const LINKING_CODE_EXAMPLE: View<"LinkingCode"> = {
  instanceId: INSTANCE_ID,
  qrCodeBase64: "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAIAQAAAADsdIMmAAAADElEQVQI12NgIA0AAAAwAAHHqoWOAAAAAElFTkSuQmCC",
  message: "Scan this code with the messaging application on the phone.",
};

const LINK_TICKET = `${INSTANCE_ID}.mkz9s3k0.5d0b3a2f9c4e8d716f0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60`;

export const LINK_PAGE_EXAMPLE: View<"LinkPage"> = {
  url: `https://voice.example/link-page/${LINK_TICKET}`,
  expires_at: "2026-01-31T13:00:00.000Z",
};

export const LINK_PAGE_STATE_EXAMPLE: View<"LinkPageState"> = {
  name: "Front desk",
  linked: true,
  phone: "+12025550123",
  qrCodeBase64: null,
};

export const EVENT_EXAMPLE: View<"Event"> = {
  id: "evt_01k7zq3q8rf2j4m6p8s0v2x4zc",
  type: "answered",
  timestamp: "2026-01-31T12:00:03.250Z",
  call_id: CALL_ID,
  instance_id: INSTANCE_ID,
  data: {},
};

export const STREAM_TICKET_EXAMPLE: View<"StreamTicket"> = {
  ticket: "0Qm4Zr8WkX2vYb6TnJ1sLdE5uGcA9hPfR3xKiOqV7wM",
  expires_at: "2026-01-31T12:01:00.000Z",
  url: `wss://voice.example/v1/calls/${CALL_ID}/stream?ticket=0Qm4Zr8WkX2vYb6TnJ1sLdE5uGcA9hPfR3xKiOqV7wM`,
};

export const VOICE_EXAMPLE: View<"Voice"> = {
  id: "en-US-1",
  language: "en-US",
  engine: "flite",
  name: "slt",
  quality: "robotic",
  sample_url: "https://voice.example/v1/voices/en-US-1/sample.wav",
};
