import { readQuotedString } from "./quoted-string.ts";

/** One element of Warning: what a server has to say about its response (RFC 3261 section 20.43). */
export interface Warning {
  /** 300 to 399; 399 for whatever has no code of its own. */
  readonly code: number;
  /** Who warns: a host or a name. */
  readonly agent: string;
  readonly text: string;
}

/** Reads one element of Warning: `399 proxy.example.com "No permission"`. */
export function parseWarning(text: string): Warning | undefined {
  const match = /^\s*(\d{3})\s+([^\s"]+)\s*(?=")/.exec(text);
  const quoted = match === null ? undefined : readQuotedString(text, match[0].length);
  if (match === null || quoted === undefined) return undefined;
  return { code: Number(match[1]), agent: match[2] as string, text: quoted.value };
}
