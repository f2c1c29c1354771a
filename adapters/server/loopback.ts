/** Names and addresses that always lead to the own machine (RFC 6761 §6.3), as they stand in a URL. */
const LOOPBACK = /^(?:(?:[a-z0-9-]+\.)*localhost\.?|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i;

/** True for a host that always is the own machine. @param host without a port; an IPv6 address with brackets or without */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}
