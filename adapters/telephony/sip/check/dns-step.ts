import { isIP } from "node:net";
import { within } from "../../../../src/base/timers.ts";
import type { System } from "../../../../src/ports/system.ts";
import { parseUri } from "../../../sip-stack/message/uri.ts";
import type { Dns } from "../../../sip-stack/transport/dns.ts";
import { type Hop, TransportError } from "../../../sip-stack/transport/transport.ts";
import type { ResolvedTrunk } from "../config/resolve-trunk.ts";
import { type CheckStep, passedStep } from "./step.ts";

/** Time limit for a response from the resolver, ms. */
const TIMEOUT_MS = 1_400;

/** The record types that the resolver sends no response for; none are queried if the URI has an address or a port. */
export async function silentQueries(uri: string, dns: Dns, system: System): Promise<readonly string[]> {
  const { host = "", port } = parseUri(uri) ?? {};
  if (isIP(host) !== 0 || port !== undefined) return [];
  const queries = { NAPTR: () => dns.naptr(host), SRV: () => dns.srv(`_sip._udp.${host}`) };
  const checks = Object.entries(queries).map(async ([kind, query]) =>
    (await isAnswered(query, system)) ? [] : [kind],
  );
  return (await Promise.all(checks)).flat();
}

/** Resolves the trunk's name. */
export function dnsStep(uri: string, hops: readonly Hop[], silentTypes: readonly string[]): CheckStep {
  const summary = `${uri} resolves to ${hops.map(placeText).join(", then ")}`;
  if (silentTypes.length === 0) return passedStep("dns", summary);
  return passedStep(
    "dns",
    `${summary}; the resolver drops queries for ${silentTypes.join(" and ")} records`,
    "the first call waits for them; add port and transport to `server` (sip:host:5060;transport=udp), or use another resolver",
  );
}

/** The fix for a name that does not resolve. */
export function dnsFix({ outboundProxy }: ResolvedTrunk, fault: unknown): string {
  const option = outboundProxy === undefined ? "`server`" : "`outboundProxy`";
  return fault instanceof TransportError && fault.isPermanent
    ? `correct the host in ${option}, or use its IP address`
    : `check this machine's DNS resolver (/etc/resolv.conf) and the firewall; or use an IP address in ${option}`;
}

/** True if there is any DNS answer, including "no such record". */
function isAnswered(query: () => Promise<unknown>, system: System): Promise<boolean> {
  const settled = query().then(
    () => true,
    () => true,
  );
  const createTimeoutError = () => new Error("no answer");
  return within(settled, { system, ms: TIMEOUT_MS, timeoutError: createTimeoutError }).catch(() => false);
}

const placeText = ({ address, port, kind }: Hop): string =>
  `${address.includes(":") ? `[${address}]` : address}:${port} (${kind.toUpperCase()})`;
