import type { LogFields, Logger } from "../../../src/ports/logger.ts";
import { hideTokens } from "./hide-secrets.ts";
import { maskNumbers, maskNumbersInJson } from "./mask-numbers.ts";

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
type WrittenLevel = Exclude<LogLevel, "silent">;

/** Options of {@link createLog}. */
export interface LogOptions {
  readonly level: LogLevel;
  /** True for human-readable lines; otherwise one JSON object per line. */
  readonly pretty: boolean;
  /** Receives whole lines, without line ends. */
  readonly write: (line: string) => void;
  /** True to hide the middle of phone numbers. Default: false. */
  readonly maskNumbers?: boolean | undefined;
  /** Returns ms since 1970-01-01 UTC. Default: the real time. */
  readonly now?: () => number;
}

const COLOURS: Readonly<Record<WrittenLevel, string>> = { debug: "90", info: "36", warn: "33", error: "31" };

/** A logger that writes lines. */
export function createLog({
  level,
  pretty,
  write,
  maskNumbers: hidesNumbers = false,
  now = Date.now,
}: LogOptions): Logger {
  const minLevel = LOG_LEVELS.indexOf(level);
  const mask = !hidesNumbers ? (line: string) => line : pretty ? maskNumbers : maskNumbersInJson;
  const logAt =
    (name: WrittenLevel) =>
    (fields: LogFields, message: string): void => {
      if (LOG_LEVELS.indexOf(name) < minLevel) return;
      const time = new Date(now()).toISOString();
      const line = pretty ? prettyLine(time, name, fields, message) : jsonLine(time, name, fields, message);
      write(mask(hideTokens(line)));
    };
  return { debug: logAt("debug"), info: logAt("info"), warn: logAt("warn"), error: logAt("error") };
}

function jsonLine(time: string, level: string, fields: LogFields, message: string): string {
  return stringify({ time, level, msg: message, ...plainFields(fields) });
}

function prettyLine(time: string, level: WrittenLevel, fields: LogFields, message: string): string {
  const { err, ...otherFields } = plainFields(fields);
  const pairs = Object.entries(otherFields)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => ` \x1b[2m${name}=\x1b[22m${typeof value === "string" ? oneLine(value) : stringify(value)}`);
  const mark = `\x1b[${COLOURS[level]}m${level.toUpperCase().padEnd(5)}\x1b[0m`;
  return `\x1b[2m${time.slice(11, 23)}\x1b[0m ${mark} ${oneLine(message)}${pairs.join("")}${errorText(err)}`;
}

function errorText(error: unknown): string {
  if (error === undefined) return "";
  const { stack, message } = error as { stack?: string; message?: string };
  return `\n${stack ?? message ?? stringify(error)}`;
}

/** Untrusted text must not imitate our lines or control the terminal. */
function oneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are removed
  return text.replace(/[\x00-\x1f\x7f-\x9f]/g, (character) => `\\u${hex(character.charCodeAt(0))}`);
}

function hex(code: number): string {
  return code.toString(16).padStart(4, "0");
}

/** The fields with every error replaced by a plain object. */
function plainFields(fields: LogFields): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, value instanceof Error ? errorFields(value) : value]),
  );
}

function errorFields(error: Error, depth = 0): Record<string, unknown> {
  const { name, message, stack, cause } = error;
  const { code } = error as { code?: unknown };
  return {
    type: name,
    message,
    ...(code === undefined ? {} : { code }),
    ...(stack === undefined ? {} : { stack }),
    ...(cause instanceof Error && depth < 3 ? { cause: errorFields(cause, depth + 1) } : {}),
  };
}

function stringify(value: unknown): string {
  const seenObjects = new WeakSet<object>();
  return JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner === "bigint") return inner.toString();
    if (typeof inner !== "object" || inner === null) return inner;
    if (inner instanceof Uint8Array) return `${inner.byteLength} bytes`;
    if (seenObjects.has(inner)) return "[seen above]";
    seenObjects.add(inner);
    return inner;
  });
}
