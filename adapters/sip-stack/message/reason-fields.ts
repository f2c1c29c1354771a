import { isToken, parseUint32, readQuotedString, splitList } from "./grammar.ts";
import { parseParameterized } from "./params.ts";

/** One element of Reason (RFC 3326): why a request was sent. */
export interface Reason {
  /** Upper case: usually `SIP` or `Q.850`. */
  readonly protocol: string;
  /** A SIP status or a cause of Q.850. */
  readonly cause: number | undefined;
  readonly text: string | undefined;
  /** Origin of a Q.850 cause (RFC 8606): `U` for the user, `LN`, `TN`, `RLN` … for networks. */
  readonly location?: string | undefined;
}

/** The elements of a Reason field; malformed ones are skipped. */
export function parseReasons(text: string | undefined): Reason[] {
  return splitList(text ?? "").flatMap((element) => parseReason(element) ?? []);
}

/** Reads one element of Reason: `Q.850;cause=16;text="Terminated"`. */
export function parseReason(text: string): Reason | undefined {
  const read = parseParameterized(text);
  if (read === undefined || !isToken(read.value)) return undefined;
  return {
    protocol: read.value.toUpperCase(),
    cause: parseUint32(read.params.get("cause")),
    text: read.params.get("text") || undefined,
    ...(read.params.get("location") ? { location: read.params.get("location") } : {}),
  };
}

/** One element of Warning: additional information about a response (RFC 3261 section 20.43). */
export interface Warning {
  /** 300 to 399; 399 is miscellaneous. */
  readonly code: number;
  /** The server that adds the warning: a host or a name. */
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

/** The value of Retry-After in seconds (RFC 3261 section 20.33), without its comment and parameters. */
export function parseRetryAfter(text: string | undefined): number | undefined {
  return parseUint32(text?.split(/[;(]/, 1)[0]);
}
