import type { System } from "../../../../src/ports/system.ts";
import type { Route, RouteTrunk } from "../config/route.ts";
import { srvOrder } from "../transport/srv-order.ts";

/**
 * The names of the trunks for a number: those with the longest prefix that fits it, in the order in which they are to be
 * tried. The lowest order comes first; equals are drawn by lot, the heavier the more often, as SRV records are (RFC 2782).
 * @param e164 the number
 */
export function chosenTrunks({ trunks }: Route, e164: string, system: System): string[] {
  const longest = longestPrefix(trunks, e164);
  const records = trunks.flatMap((one, at) => {
    const { trunk, order = at + 1, weight = 1 } = one;
    const fits = longest >= 0 && longestPrefix([one], e164) === longest;
    return fits ? [{ priority: order, weight, name: trunk, port: 0 }] : [];
  });
  return srvOrder(records, system).map(({ name }) => name);
}

/**
 * Why no trunk of a route calls a number, as a sentence; undefined if one of them does.
 * @param refusalOf why one trunk does not call it; undefined if it does
 */
export async function routeRefusal(
  { name, trunks }: Route,
  e164: string,
  refusalOf: (trunk: string) => Promise<string | undefined>,
): Promise<string | undefined> {
  const longest = longestPrefix(trunks, e164);
  if (longest < 0) return `route ${name} has no trunk for ${e164}`;
  const fitting = trunks.filter((one) => longestPrefix([one], e164) === longest);
  const refusals = await Promise.all(fitting.map(({ trunk }) => refusalOf(trunk)));
  return refusals.includes(undefined) ? undefined : refusals.join("; ");
}

/** Length of the longest prefix of these trunks that fits a number; -1 if none does. */
function longestPrefix(trunks: readonly RouteTrunk[], e164: string): number {
  const prefixes = trunks.flatMap((one) => one.prefixes ?? [""]);
  return Math.max(-1, ...prefixes.filter((prefix) => e164.startsWith(prefix)).map(({ length }) => length));
}
