import { nearest } from "../../../src/base/nearest.ts";
import { DEFAULT_TIMINGS, isLeaseRenewedInTime } from "../../../src/domain/timings.ts";
import { VOICE_ID } from "../../../src/domain/voice-id.ts";
import type { RingportOptions } from "../../../src/options.ts";
import type { ParsedLine } from "../command.ts";
import { CONNECTION_SETTINGS } from "../connection/connection-settings.ts";
import type { CertificateFiles } from "../serve/certificate-files.ts";
import { hideUsers } from "../serve/hide-secrets.ts";
import type { LogLevel } from "../serve/log.ts";
import { UsageError } from "../usage-error.ts";
import { CODE_ONLY_OPTIONS, SETTINGS } from "./all-settings.ts";
import type { Setting } from "./setting.ts";
import { upperSnake } from "./tuning-settings.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Parsed settings. Undefined means the default. */
export interface ServerSettings {
  readonly options: Omit<RingportOptions, "log">;
  readonly port: number | undefined;
  readonly hostname: string | undefined;
  readonly tls: CertificateFiles | undefined;
  readonly console: "on" | "off" | undefined;
  /** The file for the first token. */
  readonly tokenFile: string | undefined;
  readonly logLevel: LogLevel | undefined;
  readonly logMaskNumbers: boolean | undefined;
}

const DEFAULT_QUEUE_DEPTH = 10;
const DEFAULT_WINDOW_MS = 60_000;

/**
 * Reads settings from flags and the environment. A flag wins; an empty variable counts as unset.
 * @throws {UsageError} naming the first value that cannot be used
 */
export function readSettings(settings: readonly Setting[], line: ParsedLine, env: Environment): ServerSettings {
  const values = new Map<string, unknown>();
  for (const setting of settings) {
    const value = settingValue(setting, line, env);
    if (value !== undefined) values.set(setting.option, value);
  }
  completeQueue(values);
  completeRateLimit(values);
  checkAccounts(values);
  completeSpeech(values);
  checkTranscription(values);
  completeAgent(values);
  checkHttpTools(values);
  checkLease(values);
  checkTls(values);
  const { port, hostname, tls, console, tokenFile, log, logMaskNumbers, ...options } = nestedOptions(values);
  return { options, port, hostname, tls, console, tokenFile, logLevel: log, logMaskNumbers } as ServerSettings;
}

/** Variables that Kubernetes sets in every container if there is a service named "ringport". */
const KUBERNETES_VARIABLE = /^RINGPORT_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_\w+)?)$/;

/** Unknown variables that look like settings, each with a fix if one is known. */
export function unknownVariables(env: Environment): { name: string; fix: string | undefined }[] {
  const knownNames = [...SETTINGS, ...CONNECTION_SETTINGS].map((setting) => setting.env);
  return Object.keys(env)
    .filter((name) => name.startsWith("RINGPORT_") && !knownNames.includes(name) && !KUBERNETES_VARIABLE.test(name))
    .sort()
    .map((name) => {
      const option = Object.keys(CODE_ONLY_OPTIONS).find((candidate) => variableOf(candidate) === name);
      if (option) return { name, fix: `only a program can set it, as the option ${option} of createRingport` };
      const suggestion = nearest(name, knownNames);
      return { name, fix: suggestion && `did you mean ${suggestion}?` };
    });
}

/** The variable that an option would have. */
function variableOf(option: string): string {
  return `RINGPORT_${upperSnake(option.replace("limits.", "limit_").replace("embedded.", ""))}`;
}

/**
 * One setting, from its flag or from the environment; undefined if neither is set.
 * @throws {UsageError} its value cannot be used
 */
export function settingValue(
  { env: name, flag, parser, secret }: Setting,
  line: ParsedLine,
  env: Environment,
): unknown {
  const flagValue = flag === undefined ? undefined : line.values.get(flag);
  if (typeof flagValue === "boolean") return flagValue;
  const text = flagValue ?? env[name]?.trim();
  if (text === undefined || (flagValue === undefined && text === "")) return undefined;
  const value = parser.parse(text);
  if (value !== undefined) return value;
  const source = flagValue === undefined ? name : `--${flag}`;
  throw new UsageError(`${source}${secret ? "" : ` is ${quote(text)}: it`} must be ${parser.expected}`);
}

function quote(text: string): string {
  const redactedText = hideUsers(text);
  return JSON.stringify(redactedText.length > 60 ? `${redactedText.slice(0, 60)}…` : redactedText);
}

function completeQueue(values: Map<string, unknown>): void {
  const isFifo = values.get("queue.kind") === "fifo";
  if (!isFifo && values.has("queue.depth"))
    throw new UsageError("RINGPORT_QUEUE_DEPTH has no effect without RINGPORT_QUEUE=fifo: set it, or remove the depth");
  const lines = Number(values.get("queue.lines") ?? 1);
  if (isFifo && !values.has("queue.depth")) values.set("queue.depth", Math.max(DEFAULT_QUEUE_DEPTH, 2 * lines));
  const depth = Number(values.get("queue.depth"));
  if (isFifo && depth < lines)
    throw new UsageError(
      `RINGPORT_QUEUE_DEPTH is ${depth}: it must be at least RINGPORT_LINES (${lines}), because live calls count`,
    );
  const hasQueueOption = [...values.keys()].some((option) => option.startsWith("queue."));
  if (hasQueueOption && !values.has("queue.kind")) values.set("queue.kind", "single");
}

function completeRateLimit(values: Map<string, unknown>): void {
  const hasLimit = values.has("rateLimit.limit");
  if (!hasLimit && values.has("rateLimit.windowMs"))
    throw new UsageError(
      "RINGPORT_RATE_WINDOW_MS has no effect without RINGPORT_RATE_LIMIT: set it, or remove the window",
    );
  if (hasLimit && !values.has("rateLimit.windowMs")) values.set("rateLimit.windowMs", DEFAULT_WINDOW_MS);
}

function checkAccounts(values: ReadonlyMap<string, unknown>): void {
  const hasRules = [...values.keys()].some((option) => /^embedded\.sip\.account(?:Destinations\.|sAllow)/.test(option));
  if (hasRules && !values.get("embedded.sip.accounts"))
    throw new UsageError(
      "RINGPORT_SIP_ACCOUNTS_… has no effect without RINGPORT_SIP_ACCOUNTS: set it, or remove these settings",
    );
}

const SPEECH_PREFIX = "embedded.httpSpeech.";

function completeSpeech(values: Map<string, unknown>): void {
  const speechOptions = [...values.keys()].filter((option) => option.startsWith(SPEECH_PREFIX));
  if (speechOptions.length === 0) return;
  for (const [option, env] of [
    ["baseUrl", "RINGPORT_SPEECH_URL"],
    ["model", "RINGPORT_SPEECH_MODEL"],
    ["voices", "RINGPORT_SPEECH_VOICES"],
  ] as const)
    if (!values.has(SPEECH_PREFIX + option))
      throw new UsageError(`a speech server also needs ${env}: set it, or remove the other RINGPORT_SPEECH_ settings`);
}

const TRANSCRIPTION_PREFIX = "embedded.transcription.";

function checkTranscription(values: ReadonlyMap<string, unknown>): void {
  const engine = values.get(`${TRANSCRIPTION_PREFIX}engine`);
  const serverOptions = ["baseUrl", "apiKey"].filter((option) => values.has(TRANSCRIPTION_PREFIX + option));
  if (engine === "local" && serverOptions.length > 0)
    throw new UsageError("local transcription uses no server: remove RINGPORT_TRANSCRIPTION_URL and _KEY");
  if (engine === "local") return;
  const requiredSettings = [
    ["engine", "RINGPORT_TRANSCRIPTION_ENGINE"],
    ["baseUrl", "RINGPORT_TRANSCRIPTION_URL"],
    ["model", "RINGPORT_TRANSCRIPTION_MODEL"],
    ...(String(engine).startsWith("deepgram") ? [["apiKey", "RINGPORT_TRANSCRIPTION_KEY"] as const] : []),
  ] as const;
  const hasOptions = [...values.keys()].some((option) => option.startsWith(TRANSCRIPTION_PREFIX));
  if (!hasOptions && !values.has("transcriptSpeakers")) return;
  for (const [option, env] of requiredSettings)
    if (!values.has(TRANSCRIPTION_PREFIX + option))
      throw new UsageError(
        `a transcription server also needs ${env}: set it, or remove the other RINGPORT_TRANSCRIPTION_ settings`,
      );
}

const AGENT_PREFIX = "embedded.agent.";

/** Checks the settings of the agent; `RINGPORT_AGENT_URL` without an engine selects a language model. */
function completeAgent(values: Map<string, unknown>): void {
  const isSet = (option: string): boolean => values.has(AGENT_PREFIX + option);
  const engine = values.get(`${AGENT_PREFIX}engine`);
  const hasServer = ["baseUrl", "apiKey", "model"].some(isSet);
  const hasLimits = ["maxTurns", "maxTokens"].some(isSet);
  if (hasLimits && (engine === "scripted" || (engine === undefined && !hasServer)))
    throw new UsageError(
      "RINGPORT_AGENT_MAX_TURNS and RINGPORT_AGENT_MAX_TOKENS limit a model: set RINGPORT_AGENT_URL and _MODEL, or remove them",
    );
  if (engine === "realtime") renameVoice(values);
  else checkVoice(values);
  if (engine === undefined && !hasServer) return;
  if (engine === "scripted") {
    if (hasServer)
      throw new UsageError("the scripted agent uses no server: remove RINGPORT_AGENT_URL, _KEY and _MODEL");
    return;
  }
  if (engine !== "realtime") values.set(`${AGENT_PREFIX}engine`, "cascade");
  for (const [option, env] of [
    ["baseUrl", "RINGPORT_AGENT_URL"],
    ["model", "RINGPORT_AGENT_MODEL"],
  ] as const)
    if (!isSet(option))
      throw new UsageError(`a language model also needs ${env}: set it, or remove the other RINGPORT_AGENT_ settings`);
  if (engine !== "realtime" && !values.has(`${TRANSCRIPTION_PREFIX}engine`))
    throw new UsageError(
      "a language model needs transcription: set RINGPORT_TRANSCRIPTION_ENGINE (local, or a server with _URL and _MODEL)",
    );
}

/** Moves the voice to the realtime model's settings: the model has its own voices. */
function renameVoice(values: Map<string, unknown>): void {
  const voice = values.get("agentVoiceId");
  values.delete("agentVoiceId");
  if (voice !== undefined) values.set(`${AGENT_PREFIX}voice`, voice);
}

function checkVoice(values: ReadonlyMap<string, unknown>): void {
  const voice = values.get("agentVoiceId");
  if (voice !== undefined && !VOICE_ID.test(String(voice)))
    throw new UsageError(
      `RINGPORT_AGENT_VOICE is "${voice}": it must be a voice id such as en-US-1 or pt-BR-1, unless RINGPORT_AGENT_ENGINE is realtime`,
    );
}

function checkHttpTools(values: ReadonlyMap<string, unknown>): void {
  if (values.has("embedded.httpTools.allowPrivate") && !values.has("embedded.httpTools.tools"))
    throw new UsageError(
      "RINGPORT_AGENT_TOOLS_ALLOW_PRIVATE has no effect without RINGPORT_AGENT_TOOLS: set it, or remove the permission",
    );
}

function checkLease(values: ReadonlyMap<string, unknown>): void {
  const { leaseMs, leaseRenewMs } = { ...DEFAULT_TIMINGS, ...Object.fromEntries(values) };
  if (!isLeaseRenewedInTime({ leaseMs, leaseRenewMs }))
    throw new UsageError(
      `RINGPORT_LEASE_RENEW_MS is ${leaseRenewMs}: it must be less than half of RINGPORT_LEASE_MS (${leaseMs})`,
    );
}

function checkTls(values: ReadonlyMap<string, unknown>): void {
  if (values.has("tls.cert") === values.has("tls.key")) return;
  const [presentPart, missingPart] = values.has("tls.cert") ? ["CERT", "KEY"] : ["KEY", "CERT"];
  throw new UsageError(`RINGPORT_TLS_${presentPart} needs RINGPORT_TLS_${missingPart} too: set both, or neither`);
}

/** The options as nested objects: `a.b.c` is the path of a member. */
function nestedOptions(values: ReadonlyMap<string, unknown>): Record<string, unknown> {
  const root: Record<string, unknown> = {};
  for (const [path, value] of values) setPath(root, path.split("."), value);
  return root;
}

function setPath(target: Record<string, unknown>, [name = "", ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    target[name] = value;
    return;
  }
  target[name] ??= {};
  setPath(target[name] as Record<string, unknown>, rest, value);
}
