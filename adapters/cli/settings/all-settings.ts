import { MAX_LINES } from "../../../src/domain/instances/queue-capacity.ts";
import type { Limits } from "../../../src/domain/limits.ts";
import { VOICE_ID } from "../../../src/domain/voice-id.ts";
import { type EmbeddedTuning, NETWORK_NAMES, type RingportOptions } from "../../../src/options.ts";
import { SCHEMA_NAME, TABLE_PREFIX } from "../../storage/tables/table-names.ts";
import { LOG_LEVELS } from "../serve/log.ts";
import { AGENT } from "./agent-settings.ts";
import { PROTECTION } from "./dialling-rule-settings.ts";
import {
  callsPerDay,
  corsOrigins,
  decimal,
  hexKeys,
  httpUrl,
  listOf,
  modelVoices,
  oneOf,
  onOff,
  phonePrefixes,
  speakers,
  speechVoices,
  textSetting,
  wholeNumber,
} from "./parsers.ts";
import { HIDDEN, type Setting, setting } from "./setting.ts";
import { SIP } from "./sip-settings.ts";
import { LIMITS, TIMINGS } from "./tuning-settings.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const SERVER = [
  setting("port", "PORT", wholeNumber(0, 65_535), "8080", "Port to listen on; 0 picks a free one."),
  setting(
    "hostname",
    "HOST",
    textSetting("HOST", "a host name or an address", /^[\w.:[\]-]+$/),
    "127.0.0.1",
    "Address to listen on; 0.0.0.0 lets phones in your network open the linking page.",
  ),
  setting(
    "tls.cert",
    "RINGPORT_TLS_CERT",
    textSetting("FILE", "a file"),
    "none",
    "Serves HTTPS with the certificate in this PEM file; needs RINGPORT_TLS_KEY.",
  ),
  setting(
    "tls.key",
    "RINGPORT_TLS_KEY",
    textSetting("FILE", "a file"),
    "none",
    "PEM file with the key of that certificate.",
  ),
  setting(
    "publicUrl",
    "RINGPORT_PUBLIC_URL",
    httpUrl,
    "host, port",
    "Public address of this server, base path included; set it behind a proxy.",
  ),
  setting(
    "basePath",
    "RINGPORT_BASE_PATH",
    textSetting("PATH", "a path such as /api", /^(?:\/[\w~-][\w.~-]*)+$/),
    "none",
    "Path in front of /v1.",
  ),
  setting(
    "console",
    "RINGPORT_CONSOLE",
    oneOf("on", "off"),
    "on",
    "Serves the console in the browser at /console; / redirects there.",
  ),
  setting(
    "data",
    "RINGPORT_DATA",
    textSetting("FOLDER", "a folder"),
    "./data",
    "Folder of the database, the key and the recordings.",
  ),
  setting(
    "tokenFile",
    "RINGPORT_TOKEN_FILE",
    textSetting("FILE", "a file"),
    "none",
    "The first start writes its token to this new file instead of the terminal.",
  ),
  setting(
    "databaseUrl",
    "DATABASE_URL",
    textSetting("URL", "a URL such as postgres://user@host/database", /^postgres(ql)?:\/\/./),
    "none",
    "PostgreSQL instead of the embedded SQLite.",
    HIDDEN,
  ),
  setting(
    "databaseSchema",
    "RINGPORT_DATABASE_SCHEMA",
    textSetting("NAME", "a name of a-z, 0-9 and _", SCHEMA_NAME),
    "none",
    "PostgreSQL: schema of the tables, to keep them apart from another program's; default: the first one of the search path.",
  ),
  setting(
    "databasePrefix",
    "RINGPORT_DATABASE_PREFIX",
    textSetting("PREFIX", "up to 30 of a-z, 0-9 and _, such as ringport_", TABLE_PREFIX),
    "none",
    "Prefix of the names of tables and indexes.",
  ),
  setting(
    "secret",
    "RINGPORT_SECRET",
    textSetting("HEX", "64 hex digits, from `openssl rand -hex 32`", /^[0-9a-f]{64}$/i),
    "generated, kept in the data folder",
    "Key that encrypts the credentials of linked numbers.",
    HIDDEN,
  ),
  setting(
    "previousSecrets",
    "RINGPORT_PREVIOUS_SECRETS",
    hexKeys,
    "none",
    "Earlier keys: data encrypted with them is re-encrypted with RINGPORT_SECRET after the start.",
    HIDDEN,
  ),
  setting(
    "streamPreview",
    "RINGPORT_STREAM_PREVIEW",
    onOff,
    "off",
    "Live streams, a preview: GET /v1/calls/:callId/stream.",
  ),
  setting(
    "registration",
    "RINGPORT_REGISTRATION",
    oneOf("invitation", "open"),
    "invitation",
    "Registration in the console after the first account: by invitation, or open to everyone.",
  ),
  setting("cors", "RINGPORT_CORS", corsOrigins, "off", "Origins whose web pages may send requests: * or a list."),
  setting(
    "rateLimit.limit",
    "RINGPORT_RATE_LIMIT",
    wholeNumber(1, 1_000_000),
    "none",
    "Maximum number of requests of a token in each window.",
  ),
  setting("rateLimit.windowMs", "RINGPORT_RATE_WINDOW_MS", wholeNumber(100, DAY_MS), "60000", "Length of that window."),
  setting(
    "allowedPrefixes",
    "RINGPORT_ALLOWED_PREFIXES",
    phonePrefixes,
    "none",
    "Prefixes that may be called, whatever a token allows; none: every number.",
  ),
  setting(
    "maxCallsPerDay",
    "RINGPORT_MAX_CALLS_PER_DAY",
    callsPerDay,
    "none",
    "Maximum number of calls within 24 hours of a token without its own limit.",
  ),
  setting("log", "LOG_LEVEL", oneOf(...LOG_LEVELS), "info", "Lowest level that is logged."),
  setting(
    "logMaskNumbers",
    "RINGPORT_LOG_MASK_NUMBERS",
    onOff,
    "off",
    "Hides the middle of phone numbers in logs: +1202•••0100.",
  ),
  setting(
    "onLeaseLost",
    "RINGPORT_ON_LEASE_LOST",
    oneOf("exit", "restart"),
    "exit",
    "PostgreSQL: when the lease is lost, exit with code 8, or restart in the same process.",
  ),
  setting(
    "drainMs",
    "RINGPORT_DRAIN_MS",
    wholeNumber(0, HOUR_MS),
    "10000",
    "Time for live calls to end when the server stops.",
  ),
  setting(
    "retentionDays",
    "RINGPORT_RETENTION_DAYS",
    decimal(0.001, 36_500),
    "forever",
    "Retention of ended calls and deleted instances.",
  ),
  setting(
    "recordingRetentionDays",
    "RINGPORT_RECORDING_RETENTION_DAYS",
    decimal(0.001, 36_500),
    "as long as the call",
    "Retention of recordings of ended calls, never longer than that of the calls.",
  ),
  setting(
    "embedded.networks",
    "RINGPORT_TELEPHONY",
    listOf(...NETWORK_NAMES),
    "simulator",
    "Networks that carry calls, the default first; if SIP is configured, the default is sip alone.",
  ),
  setting(
    "queue.kind",
    "RINGPORT_QUEUE",
    oneOf("single", "fifo"),
    "single",
    "Active calls of an instance: one, or a queue.",
  ),
  setting(
    "queue.depth",
    "RINGPORT_QUEUE_DEPTH",
    wholeNumber(1, 1_000),
    "10",
    "Maximum number of calls in a fifo queue, live ones included. With more than 5 lines, the default is twice the lines.",
  ),
  setting(
    "queue.lines",
    "RINGPORT_LINES",
    wholeNumber(1, MAX_LINES),
    "1",
    "Calls of one instance that may be live at the same time, if its network allows that.",
  ),
  setting(
    "webhooks.allowPrivate",
    "RINGPORT_WEBHOOKS_ALLOW_PRIVATE",
    onOff,
    "off",
    "Allows webhooks to private addresses and without HTTPS, for development.",
  ),
] as const;

const SIMULATOR = [
  setting(
    "embedded.simulatorTimeScale",
    "RINGPORT_SIMULATOR_TIME_SCALE",
    decimal(0.001, 1_000),
    "1",
    "Scales the times of simulated callees; 0.1 is faster.",
  ),
  setting(
    "embedded.simulatorSampleRate",
    "RINGPORT_SIMULATOR_SAMPLE_RATE",
    oneOf(8000, 16000),
    "16000",
    "Sample rate of simulated calls, Hz.",
  ),
  setting(
    "embedded.simulatorVoiceId",
    "RINGPORT_SIMULATOR_VOICE",
    textSetting("VOICE", "a voice id such as en-US-1 or pt-BR-1", VOICE_ID),
    "en-US-1, or the first voice that works",
    "Voice of simulated callees; they speak its language if that is English, Portuguese or Spanish.",
  ),
] as const;

const TRANSCRIPTION = [
  setting(
    "embedded.transcription.engine",
    "RINGPORT_TRANSCRIPTION_ENGINE",
    oneOf("local", "openai", "openai-realtime", "deepgram", "deepgram-flux"),
    "none",
    "Transcribes calls with a model on this machine (local), or with a server for one of these protocols.",
  ),
  setting("embedded.transcription.baseUrl", "RINGPORT_TRANSCRIPTION_URL", httpUrl, "none", "Address of that server."),
  setting(
    "embedded.transcription.apiKey",
    "RINGPORT_TRANSCRIPTION_KEY",
    textSetting("KEY", "a key"),
    "none",
    "Its key.",
    HIDDEN,
  ),
  setting(
    "embedded.transcription.model",
    "RINGPORT_TRANSCRIPTION_MODEL",
    textSetting("NAME", "a model's name"),
    "none",
    "Its model; of local, the folder in the model folder (by default the only recogniser).",
  ),
  setting(
    "embedded.transcription.language",
    "RINGPORT_TRANSCRIPTION_LANGUAGE",
    textSetting("TAG", "a language such as pt or pt-BR", /^[a-z]{2,8}(-[a-z0-9]{1,8})*$/i),
    "none",
    "Language of the speech, as the server names it; by default the server detects it.",
  ),
  setting(
    "transcriptSpeakers",
    "RINGPORT_TRANSCRIPTION_SPEAKERS",
    speakers,
    "callee",
    "Speakers to transcribe; the caller's speech is what the stream's client plays.",
  ),
] as const;

const SPEECH = [
  setting(
    "embedded.httpSpeech.baseUrl",
    "RINGPORT_SPEECH_URL",
    httpUrl,
    "none",
    "Address of a server with POST {URL}/audio/speech.",
  ),
  setting("embedded.httpSpeech.apiKey", "RINGPORT_SPEECH_KEY", textSetting("KEY", "a key"), "none", "Its key.", HIDDEN),
  setting(
    "embedded.httpSpeech.model",
    "RINGPORT_SPEECH_MODEL",
    textSetting("NAME", "a model's name"),
    "none",
    "Its model.",
  ),
  setting(
    "embedded.httpSpeech.voices",
    "RINGPORT_SPEECH_VOICES",
    speechVoices,
    "none",
    `Its voices: {"pt-BR-1":{"voice":"pf_dora"}}.`,
  ),
  setting(
    "embedded.httpSpeech.sampleRate",
    "RINGPORT_SPEECH_SAMPLE_RATE",
    wholeNumber(4_000, 192_000),
    "24000",
    "Sample rate of its audio, Hz, if the server does not report it.",
  ),
  setting(
    "embedded.httpSpeech.atOnce",
    "RINGPORT_SPEECH_AT_ONCE",
    wholeNumber(1, 1_000),
    "4",
    "Maximum number of concurrent requests to it.",
  ),
] as const;

const NEURAL = [
  setting(
    "embedded.neural.models",
    "RINGPORT_SPEECH_MODELS",
    textSetting("FOLDER", "a folder"),
    "models",
    "Folder of speech models (ringport models); a relative path starts at the data folder.",
  ),
  setting(
    "embedded.neural.voices",
    "RINGPORT_SPEECH_MODEL_VOICES",
    modelVoices,
    "none",
    `More voices of these models: {"pt-BR-30":{"model":"kokoro-multi-lang-v1_0","speaker":43}}.`,
  ),
  setting(
    "embedded.neural.processes",
    "RINGPORT_SPEECH_PROCESSES",
    wholeNumber(1, 256),
    "1",
    "Processes that run the models, at most the number of processors minus one.",
  ),
  setting(
    "embedded.neural.memoryMb",
    "RINGPORT_SPEECH_MEMORY_MB",
    wholeNumber(64, 1_000_000),
    "1024",
    "A process is replaced if it has taken this much memory beyond that of its models, MiB.",
  ),
] as const;

/** All settings by heading: help, flags and environment variables come from this table. */
export const SETTING_GROUPS = {
  Server: SERVER,
  "Number protection": PROTECTION,
  "SIP (real phones)": SIP,
  "Simulated network": SIMULATOR,
  "Speech server": SPEECH,
  "Speech on this machine": NEURAL,
  Transcription: TRANSCRIPTION,
  Agents: AGENT,
  "Timings (ms)": TIMINGS,
  "Limits of a request": LIMITS,
} as const;

export const SETTINGS: readonly Setting[] = Object.values(SETTING_GROUPS).flat();

/** The settings of these options. */
export function settingsOf(...options: readonly string[]): Setting[] {
  return SETTINGS.filter(({ option }) => options.includes(option));
}

/** The settings by which a command finds a server's storage. */
export const STORAGE_SETTINGS: readonly Setting[] = settingsOf(
  "data",
  "databaseUrl",
  "databaseSchema",
  "databasePrefix",
);

const RARELY_CHANGED_REASON = "the default suits the server; programs with other adapters may need another value";

/** Options that only a program can set, and the reasons. */
export const CODE_ONLY_OPTIONS = {
  telephony: "objects; RINGPORT_TELEPHONY chooses between those that come with Ringport",
  storage: "an object; DATABASE_URL and RINGPORT_DATA choose between the two that come with Ringport",
  speech: "an object; RINGPORT_SPEECH_URL names a server",
  decoder: "an object",
  agent: "an object; RINGPORT_AGENT_ENGINE chooses between those that come with Ringport",
  agentTools: "functions; RINGPORT_AGENT_TOOLS has HTTP requests",
  transcription: "an object; RINGPORT_TRANSCRIPTION_ENGINE names a server",
  passwords: "an object",
  recordings: "an object; RINGPORT_DATA chooses the folder",
  voiceActivity: "a function",
  authenticate: "a function; the server reads its tokens from the storage",
  oneWayCalls: "the networks that come with the command line return the callee's audio",
  requireInboundAudio: "the networks that come with the command line return the callee's audio",
  system: "the clock",
  asset: "a function",
  messagePreparationMs: RARELY_CHANGED_REASON,
  mediaSetupMs: RARELY_CHANGED_REASON,
  lineLossMs: RARELY_CHANGED_REASON,
  lineGraceMs: RARELY_CHANGED_REASON,
  lineOpenMs: RARELY_CHANGED_REASON,
  unlinkMs: RARELY_CHANGED_REASON,
  storeMs: RARELY_CHANGED_REASON,
  closeMs: RARELY_CHANGED_REASON,
  "embedded.synchronous": "the server keeps what it has accepted, even after a power cut",
  "limits.nameLength": RARELY_CHANGED_REASON,
  "limits.referenceLength": RARELY_CHANGED_REASON,
  "limits.metadataBytes": RARELY_CHANGED_REASON,
  "limits.metadataDepth": RARELY_CHANGED_REASON,
  "limits.textLength": RARELY_CHANGED_REASON,
  "limits.audioMs": RARELY_CHANGED_REASON,
  "limits.instructions": RARELY_CHANGED_REASON,
  "limits.instructionLength": RARELY_CHANGED_REASON,
} as const satisfies Partial<
  Record<keyof RingportOptions | `limits.${keyof Limits}` | `embedded.${keyof EmbeddedTuning}`, string>
>;

type Top<Path extends string> = Path extends `${infer First}.${string}` ? First : Path;
type Covered =
  | Top<(typeof SETTING_GROUPS)[keyof typeof SETTING_GROUPS][number]["option"]>
  | keyof typeof CODE_ONLY_OPTIONS;

/** Fails to compile if an option has neither a setting nor a reason; the type error names the option. */
export const EVERY_OPTION_IS_COVERED: Exclude<keyof RingportOptions, Covered> extends never
  ? true
  : Exclude<keyof RingportOptions, Covered> = true;
