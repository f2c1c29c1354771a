import { parseHostPort, writeHostPort } from "./host-port.ts";
import { NO_PARAMS, parseParams, type SipParams, writeParams } from "./params.ts";

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

/** The magic cookie at the start of every branch of RFC 3261 (section 8.1.1.7). */
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
