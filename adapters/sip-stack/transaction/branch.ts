import { randomText } from "../message/random-text.ts";
import { BRANCH_COOKIE } from "../message/via.ts";
import type { System } from "../ports.ts";

const TRANSPORTS = { udp: "UDP", tcp: "TCP", tls: "TLS" } as const;
const RANDOM_BYTES = 12;

/** A unique branch that cannot be guessed (RFC 3261 section 8.1.1.7). */
export function newBranch(system: System): string {
  return BRANCH_COOKIE + randomText(system, RANDOM_BYTES);
}

/**
 * The Via of a request of ours. `rport` asks the peer for our address as it sees it (RFC 3581); `alias` lets the peer
 * send its requests on the same connection (RFC 5923).
 */
export function viaOf(kind: keyof typeof TRANSPORTS, sentBy: string, branch: string): string {
  return `SIP/2.0/${TRANSPORTS[kind]} ${sentBy};branch=${branch};rport${kind === "udp" ? "" : ";alias"}`;
}
