import { isIP } from "node:net";
import type { System } from "../../../../src/ports/system.ts";
import type { ResolvedTrunk } from "../config/resolve-trunk.ts";
import { parseUri } from "../message/uri.ts";
import type { Dns } from "../transport/resolve.ts";
import { type Hop, TransportError } from "../transport/transport.ts";
import { type CheckStep, works } from "./step.ts";

/** A resolver that answers does so in this time, ms. */
const PATIENCE_MS = 1_400;

/** The kinds of records that the resolver gives no answer for at all; none are asked for if an address or a port is given. */
export async function silentQuestions(uri: string, dns: Dns, system: System): Promise<readonly string[]> {
  const { host = "", port } = parseUri(uri) ?? {};
  if (isIP(host) !== 0 || port !== undefined) return [];
  const questions = { NAPTR: () => dns.naptr(host), SRV: () => dns.srv(`_sip._udp.${host}`) };
  const asked = Object.entries(questions).map(async ([kind, ask]) => ((await answers(ask, system)) ? [] : [kind]));
  return (await Promise.all(asked)).flat();
}

/** Resolves the trunk's name. */
export function dnsStep(uri: string, hops: readonly Hop[], silent: readonly string[]): CheckStep {
  const summary = `${uri} leads to ${hops.map(placeText).join(", then ")}`;
  if (silent.length === 0) return works("dns", summary);
  return works(
    "dns",
    `${summary}; the resolver drops questions for ${silent.join(" and ")} records`,
    "the first call waits for them; write port and transport into `server` (sip:host:5060;transport=udp), or use another resolver",
  );
}

/** What to do if the name leads nowhere. */
export function dnsFix({ outboundProxy }: ResolvedTrunk, fault: unknown): string {
  const own = outboundProxy === undefined ? "`server`" : "`outboundProxy`";
  return fault instanceof TransportError && fault.lasting
    ? `correct the host in ${own}, or give its IP address`
    : `check the resolver of this machine (/etc/resolv.conf), and that it may be asked; or give an IP address in ${own}`;
}

/** Whether an answer comes, "there is none" too. */
function answers(ask: () => Promise<unknown>, system: System): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = system.after(PATIENCE_MS, () => resolve(false));
    const answered = (): void => {
      cancel();
      resolve(true);
    };
    ask().then(answered, answered);
  });
}

const placeText = ({ address, port, kind }: Hop): string =>
  `${address.includes(":") ? `[${address}]` : address}:${port} (${kind.toUpperCase()})`;
