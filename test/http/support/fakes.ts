import type { BatchUseCases } from "../../../src/application/batches/batch-use-cases.ts";
import type {
  AudioUseCases,
  CallUseCases,
  Connection,
  ConsentUseCases,
  Creation,
  EventPage,
  InstanceUseCases,
  ListedInstance,
  QueryUseCases,
  WebhookUseCases,
} from "../../../src/application/use-cases.ts";
import { idSource } from "../../../src/base/ids.ts";
import type { Call } from "../../../src/domain/calls/call.ts";
import { eventCursor } from "../../../src/domain/cursor.ts";
import type { Event, EventSource, NumberedEvent } from "../../../src/domain/events.ts";
import type { Instance } from "../../../src/domain/instances/instance.ts";
import { DEFAULT_LIMITS } from "../../../src/domain/limits.ts";
import { Refusal } from "../../../src/domain/refusal.ts";
import { createHttp, type HttpParts } from "../../../src/http/app.ts";
import { type LogFields, silentLogger } from "../../../src/ports/logger.ts";
import type { WebApp } from "../../../src/ports/web.ts";
import { audioUseCases } from "./audio-fakes.ts";
import { batchUseCases } from "./batch-fakes.ts";
import { consentUseCases } from "./consent-fakes.ts";
import { basePaths, documentKey, documentKeys } from "./document.ts";
import { webhookUseCases } from "./webhook-fakes.ts";

/** 2026-01-31T12:00:00.000Z */
export const NOW = 1_769_860_800_000;
let drawnCount = 0;
/** Ids in the format of the application. */
export const newId = idSource(
  () => NOW,
  (bytes) => {
    for (let i = 0; i < bytes.length; i++) bytes[i] = ++drawnCount * 73;
  },
);

export const TOKEN = "rp_live_anna";
export const INSTANCE_ID = newId("inst");
export const CALL_ID = newId("call");
export const EVENT_ID = newId("evt");

export const instance = (overrides: Partial<Instance> = {}): Instance => ({
  id: INSTANCE_ID,
  userId: "usr_anna",
  name: "Front desk",
  status: "CREATED",
  metadata: { branch: "Lisbon" },
  provider: "simulator",
  phone: null,
  createdAt: NOW,
  updatedAt: NOW + 1,
  erasedAt: null,
  version: 1,
  ...overrides,
});

export const call = (overrides: Partial<Call> = {}): Call => ({
  id: CALL_ID,
  instanceId: INSTANCE_ID,
  userId: "usr_anna",
  tokenId: null,
  status: "QUEUED",
  targetPhone: "+12025550100",
  message: { type: "FIXED_TTS", text: "Hello", voiceId: "en-US-1" },
  outcome: null,
  mediaStatistics: null,
  recordedMs: null,
  createdAt: NOW,
  startedAt: null,
  endedAt: null,
  slot: 0,
  owner: null,
  dialingAt: null,
  line: null,
  version: 1,
  ...overrides,
});

export const event = (overrides: Partial<EventSource> & Partial<Pick<Event, "type" | "data">> = {}): NumberedEvent =>
  ({
    id: EVENT_ID,
    type: "dtmf",
    timestamp: NOW + 5,
    callId: CALL_ID,
    instanceId: INSTANCE_ID,
    userId: "usr_anna",
    sequence: 3,
    data: { digit: "1" },
    ...overrides,
  }) as NumberedEvent;

/** A page that ends at the third event of a log. */
export const eventPage = (overrides: Partial<EventPage> = {}): EventPage => ({
  events: [event()],
  cursors: [eventCursor({ position: 3, eventId: null })],
  cursor: eventCursor({ position: 3, eventId: null }),
  more: false,
  ...overrides,
});

export const CREATED: Creation = { created: true, replayed: false };
export const CONNECTION: Connection = {
  state: "online",
  phone: "+12025550199",
  lastSeenAt: NOW,
  reason: null,
  condition: null,
  provider: "simulator",
};

export const listedInstance = (overrides: Partial<Instance> = {}): ListedInstance => ({
  ...instance(overrides),
  connection: CONNECTION,
});

/** The parts of an application under test, each of which a test can replace. */
export interface Parts {
  instances?: Partial<InstanceUseCases>;
  calls?: Partial<CallUseCases>;
  queries?: Partial<QueryUseCases>;
  batches?: Partial<BatchUseCases>;
  webhooks?: Partial<WebhookUseCases>;
  consents?: Partial<ConsentUseCases>;
  audio?: Partial<AudioUseCases>;
  http?: Partial<HttpParts>;
}

/** Effects of an application that a test can observe besides its responses. */
export interface Served {
  readonly app: WebApp;
  /** Every logged line. */
  readonly logLines: { level: string; fields: LogFields; message: string }[];
}

/** The HTTP interface over use cases with one instance and one call. */
export function serve(parts: Parts = {}): Served {
  const logLines: Served["logLines"] = [];
  const log = (level: string) => (fields: LogFields, message: string) => void logLines.push({ level, fields, message });
  const logger = { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
  const app = createHttp({ ...dependencies(parts), log: logger, ...parts.http });
  const key = documentKey(parts.http);
  if (key !== undefined) documentKeys.set(app, key);
  basePaths.set(app, parts.http?.basePath?.replace(/\/+$/, "") ?? "");
  return { app, logLines };
}

/** The dependencies of an HTTP interface over use cases with one instance and one call. */
export function dependencies({
  instances = {},
  calls = {},
  queries = {},
  batches = {},
  webhooks = {},
  consents = {},
  audio = {},
  http = {},
}: Parts = {}): HttpParts {
  const noInstance = () => Promise.reject(new Refusal("instance_not_found", "there is no such instance"));
  const noCall = () => Promise.reject(new Refusal("call_not_found", "there is no such call"));
  const details = { ...listedInstance(), callQueue: [call()] };
  return {
    instances: {
      create: async () => ({ ...instance(), ...CREATED }),
      update: async (_, id) => (id === INSTANCE_ID ? instance() : noInstance()),
      list: async () => [listedInstance()],
      get: async (_, id) => (id === INSTANCE_ID ? details : noInstance()),
      configure: async (_, id) =>
        id === INSTANCE_ID
          ? {
              instanceId: id,
              payload: "https://example.test/simulator/link/abc",
              expiresAt: NOW + 20_000,
              sequence: 3,
              message: "Scan it.",
            }
          : noInstance(),
      unlink: async (_, id) => (id === INSTANCE_ID ? instance() : noInstance()),
      pairingCode: async (_, id) =>
        id === INSTANCE_ID
          ? { instanceId: id, code: "7GQ4-M2XK", expiresAt: NOW + 180_000, message: "Type it." }
          : noInstance(),
      linkTicket: async (_, id) =>
        id === INSTANCE_ID ? { ticket: `${id}.a.b`, expiresAt: NOW + 3_600_000 } : noInstance(),
      linkPage: async () => ({ name: "Front <desk>", linked: true, phone: "+12025550123" }),
      delete: async (_, id) => (id === INSTANCE_ID ? undefined : noInstance()),
      ...instances,
    },
    batches: { ...batchUseCases(), ...batches },
    webhooks: { ...webhookUseCases(), ...webhooks },
    consents: { ...consentUseCases(), ...consents },
    audio: { ...audioUseCases(), ...audio },
    calls: {
      create: async () => ({ ...call(), ...CREATED }),
      get: async (_, id) => (id === CALL_ID ? call() : noCall()),
      list: async () => [call()],
      hangUp: async (_, id) => (id === CALL_ID ? undefined : noCall()),
      timeline: async (_, id) => (id === CALL_ID ? eventPage() : noCall()),
      streamable: async () => {
        throw new Refusal("stream_not_available", "streams are off (RINGPORT_STREAM_PREVIEW)");
      },
      transcripts: async () => new Map(),
      stream: async () => {
        throw new Refusal("stream_not_available", "streams are off (RINGPORT_STREAM_PREVIEW)");
      },
      listen: async (_, id) =>
        id === CALL_ID ? Promise.reject(new Refusal("call_ended", "the call has ended")) : noCall(),
      recording: async () => {
        throw new Refusal("recording_not_found", "the call is not recorded");
      },
      eraseRecording: async () => {
        throw new Refusal("recording_not_found", "the call is not recorded");
      },
      events: () => {
        throw new Error("HTTP does not iterate events");
      },
      wait: () => Promise.reject(new Error("HTTP does not wait for calls")),
      ...calls,
    },
    queries: {
      events: async () => eventPage(),
      nextEvents: async () => eventPage(),
      voices: async () => [
        {
          id: "pt-BR-1",
          language: "pt-BR",
          engine: "espeak-ng",
          name: "pt-br",
          quality: "robotic" as const,
          accent: "generic" as const,
        },
      ],
      callSummary: () => Promise.reject(new Error("HTTP does not summarise calls")),
      networks: () => Promise.reject(new Error("HTTP does not list networks")),
      voiceSample: async (voiceId) => new TextEncoder().encode(`RIFF ${voiceId}`),
      ready: async () => true,
      audioThreads: () => [],
      figures: async () => ({
        calls: { QUEUED: 2 },
        liveCalls: 1,
        outcomes: { "FAILED/busy": 3 },
        linesOnline: 4,
        created: { FIXED_TTS: 5 },
        turnStages: { turnGapMs: { sumMs: 1_800, turns: 2 } },
        interruptions: 1,
      }),
      ...queries,
    },
    authenticate: async (token) => (token === TOKEN ? { userId: "usr_anna", tokenId: "tok_1" } : undefined),
    pages: [],
    limits: DEFAULT_LIMITS,
    system: { now: () => NOW, monotonic: () => 0, random: (bytes) => void bytes.fill(7), after: () => () => {} },
    log: silentLogger,
    publicUrl: () => "https://example.test",
    version: "1.2.3",
    ...http,
  };
}
