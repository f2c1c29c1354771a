import type { System } from "../../../../src/ports/system.ts";
import { srvOrder } from "../../../sip-stack/transport/resolver.ts";
import type { Route, RouteTrunk } from "../config/route-config.ts";

/**
 * The names of the trunks for a number, in the order in which they are tried: those with the longest matching prefix.
 * The lowest order comes first; trunks with the same order are drawn at random by weight, like SRV records (RFC 2782).
 * @param e164 the number
 */
export function chosenTrunks({ trunks }: Route, e164: string, system: System): string[] {
  const longestLength = longestPrefix(trunks, e164);
  const records = trunks.flatMap((member, index) => {
    const { trunk, order = index + 1, weight = 1 } = member;
    const matches = longestLength >= 0 && longestPrefix([member], e164) === longestLength;
    return matches ? [{ priority: order, weight, name: trunk, port: 0 }] : [];
  });
  return srvOrder(records, system).map(({ name }) => name);
}

/**
 * Reason why none of a route's trunks calls a number; undefined if one of them does.
 * @param refusalOf reason why a trunk does not call it; undefined if it does
 */
export async function routeRefusal(
  { name, trunks }: Route,
  e164: string,
  refusalOf: (trunk: string) => Promise<string | undefined>,
): Promise<string | undefined> {
  const longestLength = longestPrefix(trunks, e164);
  if (longestLength < 0) return `route ${name} has no trunk for ${e164}`;
  const matchingTrunks = trunks.filter((trunk) => longestPrefix([trunk], e164) === longestLength);
  const refusals = await Promise.all(matchingTrunks.map(({ trunk }) => refusalOf(trunk)));
  return refusals.includes(undefined) ? undefined : refusals.join("; ");
}

/** Length of the longest of these trunks' prefixes that matches the number; -1 if none matches. */
function longestPrefix(trunks: readonly RouteTrunk[], e164: string): number {
  const prefixes = trunks.flatMap((trunk) => trunk.prefixes ?? [""]);
  return Math.max(-1, ...prefixes.filter((prefix) => e164.startsWith(prefix)).map(({ length }) => length));
}
