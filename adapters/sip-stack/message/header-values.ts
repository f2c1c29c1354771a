import {
  isToken,
  NO_PARAMS,
  parseParameterized,
  parseParams,
  parseUint32,
  readQuotedString,
  type SipParams,
  splitList,
  writeParams,
} from "./grammar.ts";
import { parseHostPort, writeHostPort } from "./uri.ts";

/** One element of Via (RFC 3261 section 20.42). */
export interface Via {
  /** Upper case: `UDP`, `TCP`, `TLS` … */
  readonly transport: string;
  /** The host of sent-by, lower case; an IPv6 address without its brackets. */
  readonly host: string;
  /** The port of sent-by. */
  readonly port: number | undefined;
  /** `branch`, `received`, `rport` (empty in a request, RFC 3581), `alias` (RFC 5923) and so on. */
  readonly params: SipParams;
}

/** The magic cookie at the start of every RFC 3261 branch (section 8.1.1.7). */
export const BRANCH_COOKIE = "z9hG4bK";

/** Reads one element of Via: `SIP/2.0/UDP host:port;branch=…`; allows spaces around the slashes, and any version. */
export function parseVia(text: string): Via | undefined {
  const semicolon = text.indexOf(";");
  const head = semicolon < 0 ? text : text.slice(0, semicolon);
  const match = /^\s*SIP\s*\/\s*[\d.]+\s*\/\s*([-A-Za-z0-9.!%*_+`'~]+)\s+(\S.*)$/i.exec(head);
  if (match === null) return undefined;
  const sentBy = parseHostPort((match[2] as string).trimEnd());
  const params = semicolon < 0 ? NO_PARAMS : parseParams(text, semicolon);
  if (sentBy === undefined || params === undefined) return undefined;
  return { transport: (match[1] as string).toUpperCase(), ...sentBy, params };
}

/** The element as text. */
export function writeVia({ transport, host, port, params }: Via): string {
  return `SIP/2.0/${transport} ${writeHostPort({ host, port })}${writeParams(params)}`;
}

/** The value of CSeq (RFC 3261 section 20.16). */
interface CSeq {
  /** Sequence number, 0 to 2^32 - 1. */
  readonly number: number;
  readonly method: string;
}

/** Reads the value of CSeq. */
export function parseCSeq(text: string | undefined): CSeq | undefined {
  const match = /^\s*(\d+)\s+([-A-Za-z0-9.!%*_+`'~]+)\s*$/.exec(text ?? "");
  const number = Number(match?.[1]);
  return match !== null && number <= 0xffff_ffff ? { number, method: match[2] as string } : undefined;
}

/** Reads RSeq, the number of a reliable provisional response: 1 to 2^32 - 1 (RFC 3262 section 7.1). */
export function parseRSeq(text: string | undefined): number | undefined {
  return parseUint32(text) || undefined;
}

/** The value of RAck, which identifies the provisional response that a PRACK acknowledges (RFC 3262 section 7.2). */
export function writeRAck(rseq: number, { number, method }: CSeq): string {
  return `${rseq} ${number} ${method}`;
}

/** The value of Session-Expires, or of Min-SE, which has no refresher (RFC 4028 sections 4 and 5). */
interface SessionExpires {
  readonly seconds: number;
  readonly refresher: "uac" | "uas" | undefined;
}

/** Reads Session-Expires or Min-SE: `1800;refresher=uac`. */
export function parseSessionExpires(text: string | undefined): SessionExpires | undefined {
  const parsed = parseParameterized(text ?? "");
  const seconds = parseUint32(parsed?.value);
  if (seconds === undefined) return undefined;
  const refresher = parsed?.params.get("refresher")?.toLowerCase();
  return { seconds, refresher: refresher === "uac" || refresher === "uas" ? refresher : undefined };
}

/** The value as text. */
export function writeSessionExpires({ seconds, refresher }: SessionExpires): string {
  return refresher === undefined ? `${seconds}` : `${seconds};refresher=${refresher}`;
}

/** One element of Reason (RFC 3326): why a request was sent. */
export interface Reason {
  /** Upper case: usually `SIP` or `Q.850`. */
  readonly protocol: string;
  /** A SIP status or a Q.850 cause. */
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
  const parsed = parseParameterized(text);
  if (parsed === undefined || !isToken(parsed.value)) return undefined;
  return {
    protocol: parsed.value.toUpperCase(),
    cause: parseUint32(parsed.params.get("cause")),
    text: parsed.params.get("text") || undefined,
    ...(parsed.params.get("location") ? { location: parsed.params.get("location") } : {}),
  };
}

/** One element of Warning: additional information about a response (RFC 3261 section 20.43). */
interface Warning {
  /** Warning code, 300 to 399; 399 is miscellaneous. */
  readonly code: number;
  /** The server that adds the warning: a host or a name. */
  readonly agent: string;
  readonly text: string;
}

/** Reads one element of Warning: `399 proxy.example.com "No permission"`. */
export function parseWarning(text: string): Warning | undefined {
  const match = /^\s*(\d{3})\s+([^\s"]+)\s*(?=")/.exec(text);
  const quotedString = match === null ? undefined : readQuotedString(text, match[0].length);
  if (match === null || quotedString === undefined) return undefined;
  return { code: Number(match[1]), agent: match[2] as string, text: quotedString.value };
}

/** The value of Retry-After in seconds (RFC 3261 section 20.33), without its comment and parameters. */
export function parseRetryAfter(text: string | undefined): number | undefined {
  return parseUint32(text?.split(/[;(]/, 1)[0]);
}
