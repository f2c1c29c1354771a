import type { DialHistory } from "./dial-history.ts";
import type { NumberProtection } from "./number-protection.ts";

/** Delay of the next dial according to the pace, ms. */
export function paceDelayMs(
  { paceMs = 0, paceJitter = 0 }: NumberProtection,
  { sinceLastDialMs, chance }: Pick<DialHistory, "sinceLastDialMs" | "chance">,
): number {
  if (sinceLastDialMs === undefined) return 0;
  return Math.max(0, Math.ceil(paceMs * (1 + paceJitter * chance)) - sinceLastDialMs);
}
