/** A SIP call's choices for its INVITE. */
export interface SipChoice {
  /** Header fields by name, `X-…` only. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The URI that is called instead of the number's usual URI. */
  readonly uri?: string | undefined;
}

/** Choices that a network allows its calls; without a rule, none. */
export interface SipRule {
  /** Names of header fields, `X-Order`, or name prefixes, `X-Order-*`. */
  readonly headers: readonly string[];
  /** Hosts of URIs, each with its port if it has one: `pbx.example.com`, `pbx.example.com:5080`. */
  readonly uriHosts: readonly string[];
}

/** Maximum number of header fields of one call. */
export const MAX_SIP_HEADERS = 10;
/** Maximum length of a header field's value, characters. */
export const MAX_SIP_HEADER_VALUE = 200;
/** The form of a header field's name, for messages. */
export const SIP_HEADER_RULE = "must be X- and 1 to 60 letters, digits and hyphens, such as X-Order";
/** The form of a URI, for messages. */
export const SIP_URI_RULE =
  "must be a SIP URI with a user, such as sip:reception@pbx.example.com; of its parameters only transport is allowed";

const HEADER_NAME = /^X-[A-Za-z0-9-]{1,60}$/i;
const HEADER_ENTRY = /^X-[A-Za-z0-9-]{1,60}\*?$/i;
const HOST =
  /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;
const URI = /^sips?:[A-Za-z0-9._~+-]{1,64}@([^\s@;?<>"]{1,260})(?:;transport=(?:udp|tcp|tls))?$/i;

export function isSipHeaderName(name: string): boolean {
  return HEADER_NAME.test(name);
}

/** True for an entry of the rule: a name, or a prefix followed by `*`. */
export function isSipHeaderEntry(entry: string): boolean {
  return HEADER_ENTRY.test(entry);
}

/** True for text on one line that is not blank. */
export function isSipHeaderValue(value: string): boolean {
  return value.trim() !== "" && value.length <= MAX_SIP_HEADER_VALUE && !/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(value);
}

/** True for a host with or without a port. */
export function isUriHost(host: string): boolean {
  return host.length <= 260 && HOST.test(host);
}

export function isSipUri(uri: string): boolean {
  const host = hostOf(uri);
  return host !== undefined && isUriHost(host);
}

/** Choices that the network does not allow, each with a JSON Pointer into the request; empty if it allows all. */
export function sipFaults(choice: SipChoice, rule: SipRule | undefined): { pointer: string; detail: string }[] {
  const names = (rule?.headers ?? []).map((entry) => entry.toLowerCase());
  const faults = Object.keys(choice.headers ?? {})
    .filter((name) => !names.some((entry) => isNamedBy(name.toLowerCase(), entry)))
    .map((name) => ({
      pointer: `/sip/headers/${name}`,
      detail: `calls of this instance may not set ${name}; the trunk's "callHeaders" lists the names that they may set`,
    }));
  if (choice.uri === undefined || isHostAllowed(choice.uri, rule)) return faults;
  const detail = `calls of this instance may not call ${choice.uri}; the trunk's "callUriHosts" lists the hosts that they may call`;
  return [...faults, { pointer: "/target/sipUri", detail }];
}

function isNamedBy(name: string, entry: string): boolean {
  return entry.endsWith("*") ? name.startsWith(entry.slice(0, -1)) : name === entry;
}

function isHostAllowed(uri: string, rule: SipRule | undefined): boolean {
  const host = hostOf(uri)?.toLowerCase();
  return host !== undefined && rule?.uriHosts.some((allowedHost) => allowedHost.toLowerCase() === host) === true;
}

function hostOf(uri: string): string | undefined {
  return URI.exec(uri)?.[1];
}
