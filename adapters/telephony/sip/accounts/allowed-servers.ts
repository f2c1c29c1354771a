import { parseHostPort } from "../../../sip-stack/message/host-port.ts";

/** Whether the operator has listed this very server, and not just its domain. */
export function isListed(server: string, patterns: readonly string[] | undefined): boolean {
  return isAllowed(server, patterns?.filter((pattern) => !pattern.startsWith("*.")) ?? []);
}

/**
 * Whether an account may use this server.
 * @param patterns `sip.example.com` for the host itself, `*.example.com` for its subdomains; undefined: any
 */
export function isAllowed(server: string, patterns: readonly string[] | undefined): boolean {
  if (patterns === undefined) return true;
  const host = parseHostPort(server)?.host.replace(/\.$/, "");
  if (host === undefined) return false;
  return patterns.some((pattern) => {
    const wanted = pattern.toLowerCase().replace(/^\[|\]$/g, "");
    return wanted.startsWith("*.") ? host.endsWith(wanted.slice(1)) : host === wanted;
  });
}
