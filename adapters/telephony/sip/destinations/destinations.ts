import { isAllowed } from "../../../../src/domain/call-limits.ts";
import type { NumberFormat } from "../config/number-format.ts";
import type { SipUri } from "../message/uri.ts";
import { isEmergencyNumber } from "./emergency-numbers.ts";
import { loadPremiumNumbers } from "./premium-numbers.ts";

/** Which numbers a trunk calls. */
export interface DestinationRule {
  readonly allowedPrefixes: readonly string[] | undefined;
  readonly allowEmergency: boolean;
  readonly allowPremium: boolean;
}

/** Why a number is not called, as a sentence; undefined: it may be called. */
export type RefusalOf = (e164: string) => string | undefined;

/**
 * A rule that can be asked once what it needs is loaded, which happens with the first question.
 * @param name what has the rule, for its sentences: `trunk acme`
 */
export function loadRefusals(rule: DestinationRule, name: string): () => Promise<RefusalOf> {
  let loading: Promise<RefusalOf> | undefined;
  return () => (loading ??= load(rule, name));
}

async function load(
  { allowedPrefixes, allowEmergency, allowPremium }: DestinationRule,
  name: string,
): Promise<RefusalOf> {
  const isPremium = allowPremium ? () => false : await loadPremiumNumbers();
  return (e164) => {
    if (!isAllowed(e164, allowedPrefixes))
      return `${name} does not call ${e164}, only numbers that begin with ${allowedPrefixes?.join(", ")}`;
    if (!allowEmergency && isEmergencyNumber(e164))
      return `${name} does not call ${e164}: emergency numbers are refused unless the operator sets allowEmergency`;
    if (isPremium(e164))
      return `${name} does not call ${e164}: premium-rate and satellite numbers are refused unless the operator sets allowPremium`;
    return undefined;
  };
}

/** What looks like a telephone number, and is too long for an extension. */
const NUMBER = /^\+?\d{7,}$/;

/**
 * Whether a redirection to this place may be followed: a callee must not forward a call to where it may not go. A
 * telephone number that cannot be read as E.164 is not called; names and extensions are none.
 */
export function mayFollow({ user = "" }: SipUri, refuses: RefusalOf, format: NumberFormat): boolean {
  const dialled = user.replace(/;.*$/s, "").replace(/[-.()]/g, "");
  if (!NUMBER.test(dialled)) return true;
  const e164 = dialled.startsWith("+") ? dialled : `+${dialled}`;
  const isE164 = dialled === e164 || format(e164) === dialled;
  return isE164 && refuses(e164) === undefined;
}
