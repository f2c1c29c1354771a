import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { commandOf } from "../../../adapters/cli/all-commands.ts";
import type { ParsedLine } from "../../../adapters/cli/command.ts";
import { parseCommandLine } from "../../../adapters/cli/command-line.ts";
import { CODE_ONLY_OPTIONS, SETTINGS } from "../../../adapters/cli/settings/all-settings.ts";
import { answerRateFloor, callingHours, warmUpCurve } from "../../../adapters/cli/settings/dialling-rule-settings.ts";
import { readSettings, unknownVariables } from "../../../adapters/cli/settings/read-settings.ts";
import { UsageError } from "../../../adapters/cli/usage-error.ts";
import { assertUsable } from "../../../src/domain/dialling-rules/number-protection-input.ts";
import { DEFAULT_LIMITS } from "../../../src/domain/limits.ts";
import { DEFAULT_TIMINGS } from "../../../src/domain/timings.ts";
import type { RingportOptions } from "../../../src/options.ts";
import { fuzz } from "../../support/fuzz.ts";

const NO_ARGUMENTS: ParsedLine = { values: new Map(), operands: [] };

const SERVE = await commandOf(["serve"])!.load();

const readEnv = (env: Record<string, string>) => readSettings(SETTINGS, NO_ARGUMENTS, env);
const readFlags = (...args: string[]) => readSettings(SETTINGS, parseCommandLine(SERVE, args), {});

/** Every option; the compiler reports any that is missing here. */
const OPTIONS: Record<Exclude<keyof RingportOptions, keyof typeof DEFAULT_TIMINGS>, true> = {
  publicUrl: true,
  telephony: true,
  storage: true,
  speech: true,
  decoder: true,
  transcription: true,
  voiceActivity: true,
  agent: true,
  agentTools: true,
  agentVoiceId: true,
  transcriptSpeakers: true,
  recordings: true,
  webhooks: true,
  registration: true,
  passwords: true,
  authenticate: true,
  system: true,
  log: true,
  limits: true,
  allowedPrefixes: true,
  maxCallsPerDay: true,
  queue: true,
  retentionDays: true,
  recordingRetentionDays: true,
  drainMs: true,
  onLeaseLost: true,
  requireInboundAudio: true,
  oneWayCalls: true,
  secret: true,
  previousSecrets: true,
  data: true,
  databaseUrl: true,
  databaseSchema: true,
  databasePrefix: true,
  embedded: true,
  basePath: true,
  cors: true,
  streamPreview: true,
  rateLimit: true,
  asset: true,
};

describe("the table of settings", () => {
  test("covers every option, or states the reason for an omission", () => {
    const topLevelOptions = SETTINGS.map(({ option }) => option.split(".")[0]);
    for (const option of [...Object.keys(OPTIONS), ...Object.keys(DEFAULT_TIMINGS)])
      expect(option in CODE_ONLY_OPTIONS || topLevelOptions.includes(option), option).toBe(true);
    for (const limit of Object.keys(DEFAULT_LIMITS))
      expect([...SETTINGS.map(({ option }) => option), ...Object.keys(CODE_ONLY_OPTIONS)]).toContain(`limits.${limit}`);
  });

  test("names options, variables and flags once, with explanations", () => {
    for (const field of ["option", "env", "flag"] as const) {
      const names = SETTINGS.map((setting) => setting[field]).filter((name) => name !== undefined);
      expect(new Set(names).size, field).toBe(names.length);
    }
    for (const { help, fallback } of SETTINGS) expect([help.endsWith("."), fallback !== ""]).toEqual([true, true]);
  });

  test("keeps secrets out of the process list", () => {
    for (const { env, flag, secret } of SETTINGS) if (secret) expect(flag, env).toBeUndefined();
  });

  test("accepts its own defaults", () => {
    for (const { env, parser, fallback } of SETTINGS)
      if (/^[\d.]+$/.test(fallback)) expect(parser.parse(fallback), env).toBeDefined();
  });
});

describe("reading settings", () => {
  test("empty input sets no option", () => {
    expect(readEnv({})).toEqual({ options: {} });
    expect(readEnv({ PORT: "", RINGPORT_STREAM_PREVIEW: " " }).options).toEqual({});
  });

  test("a certificate and a key are accepted only together", () => {
    const RINGPORT_TLS_CERT = "/etc/cert.pem";
    const RINGPORT_TLS_KEY = "/etc/key.pem";
    expect(readEnv({ RINGPORT_TLS_CERT, RINGPORT_TLS_KEY })).toMatchObject({
      options: {},
      tls: { cert: RINGPORT_TLS_CERT, key: RINGPORT_TLS_KEY },
    });
    expect(() => readEnv({ RINGPORT_TLS_CERT })).toThrow("RINGPORT_TLS_CERT needs RINGPORT_TLS_KEY too: set both");
    expect(() => readEnv({ RINGPORT_TLS_KEY })).toThrow("RINGPORT_TLS_KEY needs RINGPORT_TLS_CERT too: set both");
  });

  test("variables set their options", () => {
    const { options, port, hostname, logLevel } = readEnv({
      PORT: "0",
      HOST: "0.0.0.0",
      LOG_LEVEL: "debug",
      RINGPORT_PUBLIC_URL: "https://calls.example.com/",
      RINGPORT_STREAM_PREVIEW: "TRUE",
      RINGPORT_RING_TIMEOUT_MS: "45000",
      RINGPORT_LIMIT_AUDIO_BYTES: "1000",
      RINGPORT_QUEUE: "fifo",
      RINGPORT_QUEUE_PACE_MS: "500",
      RINGPORT_RATE_LIMIT: "10",
      RINGPORT_CORS: "https://a.example, https://b.example",
      RINGPORT_SIMULATOR_SAMPLE_RATE: "8000",
      RINGPORT_SPEECH_URL: "http://127.0.0.1:8880/v1",
      RINGPORT_SPEECH_MODEL: "kokoro",
      RINGPORT_SPEECH_VOICES: '{"pt-BR-1":{"voice":"pf_dora"}}',
      RINGPORT_TRANSCRIPTION_ENGINE: "openai-realtime",
      RINGPORT_TRANSCRIPTION_URL: "http://127.0.0.1:8000/v1/",
      RINGPORT_TRANSCRIPTION_MODEL: "whisper",
      RINGPORT_TRANSCRIPTION_LANGUAGE: "pt-BR",
      RINGPORT_TRANSCRIPTION_SPEAKERS: "both",
      RINGPORT_TELEPHONY: "sip, simulator",
      RINGPORT_SIP_TRUNKS: "/etc/ringport/trunks.json",
      RINGPORT_SIP_ACCOUNTS: "sip.acme.example,*.acme.example",
      RINGPORT_SIP_ACCOUNTS_ALLOW_PRIVATE: "1",
      RINGPORT_SIP_ACCOUNTS_ALLOWED_PREFIXES: "+49",
      RINGPORT_SIP_ACCOUNTS_ALLOW_PREMIUM: "1",
      RINGPORT_SIP_MEDIA_THREADS: "3",
      RINGPORT_ALLOWED_PREFIXES: "+49, +1415, +49",
      RINGPORT_MAX_CALLS_PER_DAY: "200",
    });
    expect([port, hostname, logLevel]).toEqual([0, "0.0.0.0", "debug"]);
    expect(options).toEqual({
      publicUrl: "https://calls.example.com",
      streamPreview: true,
      allowedPrefixes: ["+49", "+1415"],
      maxCallsPerDay: 200,
      ringTimeoutMs: 45_000,
      limits: { audioBytes: 1_000 },
      queue: { kind: "fifo", depth: 10, paceMs: 500 },
      rateLimit: { limit: 10, windowMs: 60_000 },
      cors: { origins: ["https://a.example", "https://b.example"] },
      embedded: {
        networks: ["sip", "simulator"],
        sip: {
          trunks: "/etc/ringport/trunks.json",
          accounts: { servers: ["sip.acme.example", "*.acme.example"] },
          accountsAllowPrivate: true,
          accountDestinations: { allowedPrefixes: ["+49"], allowPremium: true },
          mediaThreads: 3,
        },
        simulatorSampleRate: 8_000,
        httpSpeech: {
          baseUrl: "http://127.0.0.1:8880/v1",
          model: "kokoro",
          voices: { "pt-BR-1": { voice: "pf_dora" } },
        },
        transcription: {
          engine: "openai-realtime",
          baseUrl: "http://127.0.0.1:8000/v1",
          model: "whisper",
          language: "pt-BR",
        },
      },
      transcriptSpeakers: ["callee", "caller"],
    });
  });

  test("limits apply to a language model, and are refused for a script", () => {
    const model = {
      RINGPORT_AGENT_URL: "http://127.0.0.1:11434/v1",
      RINGPORT_AGENT_MODEL: "m",
      RINGPORT_TRANSCRIPTION_ENGINE: "openai",
      RINGPORT_TRANSCRIPTION_URL: "http://127.0.0.1:8000/v1",
      RINGPORT_TRANSCRIPTION_MODEL: "whisper",
    };
    const limits = { RINGPORT_AGENT_MAX_TURNS: "20", RINGPORT_AGENT_MAX_TOKENS: "30000" };
    const { options } = readEnv({ ...model, ...limits });
    expect(options.embedded?.agent).toMatchObject({ engine: "cascade", maxTurns: 20, maxTokens: 30_000 });
    expect(() => readEnv({ ...model, RINGPORT_AGENT_MAX_TURNS: "0" })).toThrow(/MAX_TURNS is "0": it must be/);
    for (const engine of [{}, { RINGPORT_AGENT_ENGINE: "scripted" }])
      expect(() => readEnv({ ...engine, ...limits })).toThrow(/RINGPORT_AGENT_MAX_TOKENS limit a model: set/);
  });

  test("a flag wins over its variable, and switches can be switched off", () => {
    const line = parseCommandLine(SERVE, ["--ring-timeout-ms=2000", "--no-stream-preview", "--require-consent"]);
    const { options } = readSettings(SETTINGS, line, { RINGPORT_RING_TIMEOUT_MS: "1", RINGPORT_STREAM_PREVIEW: "1" });
    expect(options).toEqual({
      ringTimeoutMs: 2_000,
      streamPreview: false,
      queue: { kind: "single", requireConsent: true },
    });
  });

  test.each([
    ["PORT", "65536", "0 to 65535"],
    ["PORT", "-1", "0 to 65535"],
    ["PORT", "1e3", "0 to 65535"],
    ["RINGPORT_RING_TIMEOUT_MS", "1.5", "whole number"],
    ["RINGPORT_RETENTION_DAYS", "0", "0.001"],
    ["RINGPORT_PUBLIC_URL", "calls.example.com", "https://calls.example.com"],
    ["RINGPORT_PUBLIC_URL", "https://x.example/?a=b", "https://calls.example.com"],
    ["RINGPORT_SPEECH_URL", "https://ana@x.example/v1", "without a user"],
    ["RINGPORT_BASE_PATH", "api", "/api"],
    ["RINGPORT_BASE_PATH", "/../x", "/api"],
    ["RINGPORT_CORS", "app.example.com", "origins"],
    ["RINGPORT_TELEPHONY", "carrier-pigeon", "simulator"],
    ["RINGPORT_TELEPHONY", "sip,sip", "simulator"],
    ["RINGPORT_SIP_ACCOUNTS", "sip:acme.example", "*.example.com"],
    ["RINGPORT_ALLOWED_PREFIXES", "0049", "such as +49 or +1415"],
    ["RINGPORT_ALLOWED_PREFIXES", "+49,,+43", "separated by commas"],
    ["RINGPORT_MAX_CALLS_PER_DAY", "0", "whole number from 1"],
    ["RINGPORT_SIMULATOR_SAMPLE_RATE", "44100", "8000 or 16000"],
    ["RINGPORT_SPEECH_VOICES", "{}", "JSON"],
    ["RINGPORT_SPEECH_VOICES", '{"portuguese":{"voice":"x"}}', "JSON"],
    ["RINGPORT_SPEECH_VOICES", '{"pt-BR-1":"x"}', "JSON"],
    ["RINGPORT_TRANSCRIPTION_ENGINE", "whisper", "deepgram-flux"],
    ["RINGPORT_TRANSCRIPTION_URL", "api.example.com", "https://calls.example.com"],
    ["RINGPORT_TRANSCRIPTION_LANGUAGE", "Português", "pt-BR"],
    ["RINGPORT_TRANSCRIPTION_SPEAKERS", "constructor", "callee, caller or both"],
    ["HOST", "a b", "host name"],
  ])("%s=%s is refused with the expected form", (name, value, expected) => {
    expect(() => readEnv({ [name]: value })).toThrow(UsageError);
    expect(() => readEnv({ [name]: value })).toThrow(expected);
    expect(() => readEnv({ [name]: value })).toThrow(name);
  });

  test("an overlong value is truncated in the error", () => {
    expect(() => readEnv({ PORT: "9".repeat(10_000) })).toThrow(/^.{1,200}$/);
  });

  test("pace and protections apply to every queue", () => {
    expect(readEnv({ RINGPORT_QUEUE_PACE_MS: "500" }).options.queue).toEqual({ kind: "single", paceMs: 500 });
    const allProtections = {
      RINGPORT_QUEUE: "fifo",
      RINGPORT_QUEUE_PACE_JITTER: "0.5",
      RINGPORT_WARM_UP: "20, 1.5, 14",
      RINGPORT_ANSWER_RATE: "0.2,20,3600000",
      RINGPORT_REQUIRE_CONSENT: "1",
      RINGPORT_CALLING_HOURS: "08:00-20:00 mon-fri,sun",
      RINGPORT_OUTSIDE_HOURS: "fail",
    };
    expect(readEnv(allProtections).options.queue).toEqual({
      kind: "fifo",
      depth: 10,
      paceJitter: 0.5,
      warmUp: { firstDay: 20, growth: 1.5, days: 14 },
      answerRate: { floor: 0.2, calls: 20, pauseMs: 3_600_000 },
      requireConsent: true,
      callingHours: { from: "08:00", until: "20:00", days: [1, 2, 3, 4, 5, 7] },
      outsideHours: "fail",
    });
    const disabledProtections = { RINGPORT_WARM_UP: "off", RINGPORT_ANSWER_RATE: "OFF", RINGPORT_CALLING_HOURS: "off" };
    expect(readEnv(disabledProtections).options.queue).toEqual({
      kind: "single",
      warmUp: false,
      answerRate: false,
      callingHours: false,
    });
    expect(readEnv({ RINGPORT_CALLING_HOURS: "00:00-24:00" }).options.queue).toMatchObject({
      callingHours: { from: "00:00", until: "24:00" },
    });
  });

  test.each([
    ["RINGPORT_QUEUE_PACE_JITTER", "1.5", "a number from 0 to 1"],
    ["RINGPORT_WARM_UP", "20", "such as 20,1.5,14"],
    ["RINGPORT_WARM_UP", "20,0.5,14", "growth from 1"],
    ["RINGPORT_WARM_UP", "20,3,14", "at most 10000 calls on the last day"],
    ["RINGPORT_ANSWER_RATE", "20,20,3600000", "such as 0.2,20,3600000"],
    ["RINGPORT_ANSWER_RATE", "0.2,20,999999999999", "up to 7 days"],
    ["RINGPORT_REFUSALS", "0,3600000", "such as 3,3600000"],
    ["RINGPORT_REQUIRE_CONSENT", "yes please", "1 or true"],
    ["RINGPORT_OUTSIDE_HOURS", "queue", "wait or fail"],
    ["RINGPORT_CALLING_HOURS", "8-20", "hours such as 08:00-20:00"],
    ["RINGPORT_CALLING_HOURS", "20:00-08:00", "hours such as 08:00-20:00"],
    ["RINGPORT_CALLING_HOURS", "08:00-25:00", "hours such as 08:00-20:00"],
    ["RINGPORT_CALLING_HOURS", "08:00-20:00 fri-mon", "08:00-20:00 mon-fri"],
    ["RINGPORT_CALLING_HOURS", "08:00-20:00 someday", "08:00-20:00 mon-fri"],
  ])("%s=%s is refused with the rule", (name, value, expected) => {
    expect(() => readEnv({ [name]: value })).toThrow(`${name} is ${JSON.stringify(value)}: it must be `);
    expect(() => readEnv({ [name]: value })).toThrow(expected);
  });

  const parts = fc.array(fc.oneof(fc.string(), fc.constantFrom("20", "1.5", ",", "-", "08:00", "20:00", " ", "mon")));
  fuzz(
    "a protection parsed from any text is usable or refused",
    fc.property(parts, (words) => {
      const text = words.join("");
      const [warmUp, answerRate] = [warmUpCurve.parse(text), answerRateFloor.parse(text)];
      assertUsable({ warmUp, answerRate, callingHours: callingHours.parse(text) }, "queue");
    }),
  );

  test("a setting that depends on another is refused without it", () => {
    expect(() => readEnv({ RINGPORT_RATE_WINDOW_MS: "1000" })).toThrow("RINGPORT_RATE_LIMIT");
    for (const name of ["RINGPORT_SIP_ACCOUNTS_ALLOW_PREMIUM", "RINGPORT_SIP_ACCOUNTS_ALLOW_PRIVATE"])
      expect(() => readEnv({ [name]: "1" })).toThrow("without RINGPORT_SIP_ACCOUNTS");
    expect(() => readEnv({ RINGPORT_SPEECH_KEY: "secret" })).toThrow("RINGPORT_SPEECH_URL");
    expect(() => readEnv({ RINGPORT_TRANSCRIPTION_SPEAKERS: "both" })).toThrow("RINGPORT_TRANSCRIPTION_ENGINE");
    const deepgram = {
      RINGPORT_TRANSCRIPTION_ENGINE: "deepgram",
      RINGPORT_TRANSCRIPTION_URL: "https://api.deepgram.com",
      RINGPORT_TRANSCRIPTION_MODEL: "nova",
    };
    expect(() => readEnv(deepgram)).toThrow("RINGPORT_TRANSCRIPTION_KEY");
    expect(() => readEnv({ ...deepgram, RINGPORT_TRANSCRIPTION_MODEL: "" })).toThrow("RINGPORT_TRANSCRIPTION_MODEL");
    expect(() => readFlags("--queue-depth", "3")).toThrow("RINGPORT_QUEUE=fifo");
    expect(() => readEnv({ RINGPORT_QUEUE: "fifo", RINGPORT_QUEUE_DEPTH: "3", RINGPORT_LINES: "4" })).toThrow(
      "RINGPORT_QUEUE_DEPTH is 3: it must be at least RINGPORT_LINES (4)",
    );
  });

  test("lines apply to every queue, and a fifo queue gets room for waiting calls", () => {
    expect(readEnv({ RINGPORT_LINES: "2" }).options.queue).toEqual({ kind: "single", lines: 2 });
    expect(readFlags("--queue", "fifo", "--lines", "30").options.queue).toEqual({ kind: "fifo", depth: 60, lines: 30 });
    expect(() => readEnv({ RINGPORT_LINES: "101" })).toThrow('RINGPORT_LINES is "101": it must be a whole number');
  });

  test("unknown variables are reported with a suggestion", () => {
    expect(
      unknownVariables({ RINGPORT_DATE: "x", RINGPORT_DATA: "y", RINGPORT_SOMETHING_ELSE: "", PATH: "z" }),
    ).toEqual([
      { name: "RINGPORT_DATE", fix: "did you mean RINGPORT_DATA?" },
      { name: "RINGPORT_SOMETHING_ELSE", fix: undefined },
    ]);
  });

  test("an unknown variable's fix names the matching programmatic option", () => {
    const names = ["RINGPORT_LIMIT_NAME_LENGTH", "RINGPORT_LINE_GRACE_MS", "RINGPORT_SYNCHRONOUS"];
    expect(unknownVariables(Object.fromEntries(names.map((name) => [name, "5"]))).map(({ fix }) => fix)).toEqual([
      "only a program can set it, as the option limits.nameLength of createRingport",
      "only a program can set it, as the option lineGraceMs of createRingport",
      "only a program can set it, as the option embedded.synchronous of createRingport",
    ]);
  });

  test("variables that Kubernetes sets for a service named ringport are ignored", () => {
    const kubernetesVariables = {
      RINGPORT_SERVICE_HOST: "10.0.0.1",
      RINGPORT_SERVICE_PORT_HTTP: "80",
      RINGPORT_PORT: "tcp://10.0.0.1",
    };
    expect(unknownVariables({ ...kubernetesVariables, RINGPORT_PORT_80_TCP_ADDR: "10.0.0.1" })).toEqual([]);
  });
});
