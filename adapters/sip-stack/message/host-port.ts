/** A host with an optional port: `hostport` of RFC 3261 section 25.1. */
export interface HostPort {
  /** Lower case; an IPv6 address without its brackets. */
  readonly host: string;
  /** 1 to 65535. */
  readonly port: number | undefined;
}

const NAME = /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_.])?$/;
const IPV6 = /^[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*$/;

/** `host`, `host:port` or `[address]:port` (RFC 3261 section 25.1); spaces around the colon are allowed. */
export function parseHostPort(text: string): HostPort | undefined {
  const match = text.startsWith("[") ? /^\[([^\]]*)\](.*)$/s.exec(text) : /^([^:]*)(.*)$/s.exec(text);
  const host = match?.[1]?.trimEnd() ?? "";
  const rest = match?.[2]?.trim() ?? "";
  if (host.length > 255 || !(text.startsWith("[") ? IPV6 : NAME).test(host)) return undefined;
  if (rest === "") return { host: host.toLowerCase(), port: undefined };
  const digits = rest.slice(1).trimStart();
  if (rest[0] !== ":" || !/^\d{1,5}$/.test(digits)) return undefined;
  const port = Number(digits);
  return port >= 1 && port <= 65_535 ? { host: host.toLowerCase(), port } : undefined;
}

/** The host, in brackets if it is an IPv6 address, with its port if there is one. */
export function writeHostPort({ host, port }: HostPort): string {
  const written = host.includes(":") ? `[${host}]` : host;
  return port === undefined ? written : `${written}:${port}`;
}
