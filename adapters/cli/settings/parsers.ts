import { isTokenScope, TOKEN_SCOPES, type TokenScope } from "../../../src/domain/access/token-scope.ts";
import { isPrefix, PREFIX_RULE } from "../../../src/domain/calls/call-limits.ts";
import { SPEAKERS, type Speaker } from "../../../src/domain/calls/transcript.ts";
import { VOICE_ID } from "../../../src/domain/voice-id.ts";

/** Parses the text of a setting. */
export interface Parser<T> {
  /** Description of a valid value, to follow "it must be". */
  readonly expected: string;
  /** Placeholder for the help: `NUMBER`, `URL`; undefined for a switch. */
  readonly placeholder: string | undefined;
  /** All valid texts, for completion; undefined if there are too many. */
  readonly words?: readonly string[];
  /** Returns undefined if the text is invalid. */
  parse(text: string): T | undefined;
}

/** A whole number within the bounds. */
export function wholeNumber(min: number, max: number): Parser<number> {
  return {
    expected: `a whole number from ${min} to ${max}`,
    placeholder: "NUMBER",
    parse: (text) => (/^\d{1,15}$/.test(text) ? inRange(Number(text), min, max) : undefined),
  };
}

/** A number within the bounds, optionally with a decimal point. */
export function decimal(min: number, max: number): Parser<number> {
  return {
    expected: `a number from ${min} to ${max}`,
    placeholder: "NUMBER",
    parse: (text) => (/^\d{1,15}(\.\d{1,9})?$/.test(text) ? inRange(Number(text), min, max) : undefined),
  };
}

function inRange(value: number, min: number, max: number): number | undefined {
  return value >= min && value <= max ? value : undefined;
}

/** One of these words. */
export function oneOf<const T extends string | number>(...words: readonly T[]): Parser<T> {
  return {
    expected: words.length === 1 ? String(words[0]) : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`,
    placeholder: words.join("|"),
    words: words.map(String),
    parse: (text) => words.find((word) => String(word) === text),
  };
}

/** 1 or true, 0 or false. */
export const onOff: Parser<boolean> = {
  expected: "1 or true (on), 0 or false (off)",
  placeholder: undefined,
  parse: (text) => ({ "1": true, true: true, "0": false, false: false })[text.toLowerCase()],
};

/** Some of these words, each at most once, separated by commas. */
export function listOf<const T extends string>(...words: readonly T[]): Parser<T[]> {
  return {
    expected: `${words.join(" or ")}, or a list such as ${words.join(",")}`,
    placeholder: words.join(","),
    parse(text) {
      const selectedWords = text.split(",").map((word) => words.find((allowed) => allowed === word.trim()));
      return selectedWords.every((word) => word !== undefined) && new Set(selectedWords).size === selectedWords.length
        ? selectedWords
        : undefined;
    },
  };
}

/** Any text that matches the pattern. */
export function textSetting(placeholder: string, expected: string, pattern: RegExp = /./): Parser<string> {
  return { expected, placeholder, parse: (text) => (pattern.test(text) ? text : undefined) };
}

/** Keys of 32 bytes, separated by commas. */
export const hexKeys: Parser<string[]> = {
  expected: "keys separated by commas, each of 64 hex digits",
  placeholder: "HEX,…",
  parse(text) {
    const keys = text.split(",").map((key) => key.trim());
    return keys.every((key) => /^[0-9a-f]{64}$/i.test(key)) ? keys : undefined;
  },
};

/** Prefixes of phone numbers, separated by commas. */
export const phonePrefixes: Parser<string[]> = {
  expected: `prefixes separated by commas, each ${PREFIX_RULE}`,
  placeholder: "PREFIXES",
  parse(text) {
    const prefixes = text.split(",").map((prefix) => prefix.trim());
    return prefixes.every(isPrefix) ? [...new Set(prefixes)] : undefined;
  },
};

/** Scopes of a token, separated by commas. */
export const tokenScopes: Parser<TokenScope[]> = {
  expected: `scopes separated by commas, of ${TOKEN_SCOPES.join(", ")}`,
  placeholder: "SCOPES",
  parse(text) {
    const scopes = text.split(",").map((scope) => scope.trim());
    return scopes.every(isTokenScope) ? [...new Set(scopes)] : undefined;
  },
};

/** Number of calls a token may create within 24 hours. */
export const callsPerDay: Parser<number> = wholeNumber(1, 100_000);

/** An http or https URL without user and query; trailing slashes are removed. */
export const httpUrl: Parser<string> = {
  expected: "a URL without a user, such as https://calls.example.com",
  placeholder: "URL",
  parse(text) {
    if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
    const { username, password, search, hash } = new URL(text);
    return username || password || search || hash ? undefined : text.replace(/\/+$/, "");
  },
};

/** Parses the origins that may call from a browser: `*`, a list of origins, or off. */
export const corsOrigins: Parser<boolean | { origins: string[] }> = {
  expected: "* for all, off, or origins such as https://app.example.com, separated by commas",
  placeholder: "ORIGINS",
  parse(text) {
    if (text === "*") return true;
    if (/^(0|off|false)$/i.test(text)) return false;
    const origins = text.split(",").map((origin) => origin.trim());
    return origins.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin)
      ? { origins }
      : undefined;
  },
};

const HOST_PATTERN = /^(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?$|^\[[0-9a-f:.]+\]$/i;

/** Parses the SIP servers that users may enter: any, none, or a list. */
export const sipServers: Parser<boolean | { servers: string[] }> = {
  expected: "on, off, or the servers that may be entered, such as *.example.com, separated by commas",
  placeholder: "SERVERS",
  parse(text) {
    if (/^(1|on|true)$/i.test(text)) return true;
    if (/^(0|off|false)$/i.test(text)) return false;
    const servers = text.split(",").map((server) => server.trim());
    return servers.every((server) => HOST_PATTERN.test(server)) ? { servers } : undefined;
  },
};

/** Speakers whose words are transcribed. */
export const speakers: Parser<Speaker[]> = {
  ...oneOf("callee", "caller", "both"),
  parse(text) {
    if (text === "both") return [...SPEAKERS];
    const speaker = SPEAKERS.find((candidate) => candidate === text);
    return speaker && [speaker];
  },
};

/** Voices of a speech server, by voice id. */
export const speechVoices: Parser<
  Record<string, { voice: string; model?: string; speed?: number; scripts?: readonly string[] }>
> = {
  expected: `JSON such as {"pt-BR-1":{"voice":"pf_dora"}}`,
  placeholder: "JSON",
  parse(text) {
    return voicesIn<{ voice: string }>(text, ({ voice, model = "", speed = 1, scripts = [] }) => {
      if (typeof voice !== "string" || typeof model !== "string" || typeof speed !== "number") return false;
      return Array.isArray(scripts) && scripts.every((script) => /^[A-Z][a-z]{3}$/.test(script));
    });
  },
};

/** Voices of the model folder, by voice id. */
export const modelVoices: Parser<Record<string, { model: string; speaker?: number; speed?: number }>> = {
  expected: `JSON such as {"pt-BR-2":{"model":"kokoro-multi-lang-v1_0","speaker":43}}`,
  placeholder: "JSON",
  parse(text) {
    return voicesIn<{ model: string }>(text, ({ model, speaker = 0, speed = 1 }) => {
      if (typeof model !== "string" || model === "") return false;
      if (!Number.isSafeInteger(speaker) || Number(speaker) < 0) return false;
      return typeof speed === "number" && speed >= 0.25 && speed <= 4;
    });
  },
};

/** Parses JSON with voices by id; returns undefined if it has no voice, or an invalid one. */
function voicesIn<Voice>(
  text: string,
  isVoice: (voice: Record<string, unknown>) => boolean,
): Record<string, Voice> | undefined {
  const voices = parsedJson(text);
  if (!isRecord(voices) || Object.keys(voices).length === 0) return undefined;
  const areValid = Object.entries(voices).every(
    ([id, voice]) => VOICE_ID.test(id) && isRecord(voice) && isVoice(voice),
  );
  return areValid ? (voices as Record<string, Voice>) : undefined;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
