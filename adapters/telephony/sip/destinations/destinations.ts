import { isAllowed } from "../../../../src/domain/call-limits.ts";
import type { SipUri } from "../../../sip-stack/message/uri.ts";
import type { NumberFormat } from "../config/number-format.ts";
import { beginsLikeEmergency, isEmergencyNumber } from "./emergency-numbers.ts";
import { loadPremiumNumbers } from "./premium-numbers.ts";

/** The rule for the numbers that a trunk calls. */
export interface DestinationRule {
  readonly allowedPrefixes: readonly string[] | undefined;
  readonly allowEmergency: boolean;
  readonly allowPremium: boolean;
}

/** Why a number is not called; undefined: it may be called. */
export type RefusalOf = (e164: string) => string | undefined;

/** The same, as it is at this moment. */
export type RefusalNow = (e164: string) => string | undefined | Promise<string | undefined>;

/**
 * The check of a rule; the first use loads the numbering plans.
 * @param name the subject of its messages: `trunk acme`
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

const E164 = /^\+[1-9]\d{6,14}$/;
const EXTENSION = /^[1-9]\d{1,5}$/;

/**
 * Whether a redirection to this URI may be followed: to a name without digits, to an extension that a switch cannot
 * mistake for an emergency number or another short code, or to an E.164 number that the rule allows.
 */
export async function mayFollow({ user = "" }: SipUri, refuses: RefusalNow, format: NumberFormat): Promise<boolean> {
  if (!/\p{N}/u.test(user)) return true;
  // Parameters with digits, such as `phone-context` and `rn`, change the number that is called.
  const dialled = user.replace(/;\P{N}*$/u, "").replace(/[-.()]/g, "");
  if (EXTENSION.test(dialled)) return !beginsLikeEmergency(dialled);
  const e164 = dialled.startsWith("+") ? dialled : `+${dialled}`;
  const isE164 = E164.test(e164) && (dialled === e164 || format(e164) === dialled);
  return isE164 && (await refuses(e164)) === undefined;
}
