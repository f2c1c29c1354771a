import { isAllowed } from "../../../../src/domain/calls/call-limits.ts";
import { PHONE_NUMBER } from "../../../../src/domain/numbers/phone-number.ts";
import { DialError } from "../../../../src/ports/telephony.ts";
import { parseUri, type SipUri } from "../../../sip-stack/message/uri.ts";
import type { CarrierDialOptions } from "../carrier.ts";
import type { NumberFormat } from "../config/number-format.ts";
import type { ResolvedTrunk } from "../config/resolve-trunk.ts";
import { beginsLikeEmergency, isEmergencyNumber } from "./emergency-numbers.ts";

/**
 * Satellite phones and networks without a country, which cost as much as premium-rate numbers, and the international
 * premium-rate service itself: the ITU's list of assigned country codes (Recommendation E.164, annex).
 */
const COSTLY_CODES = /^\+(?:870|881|882|883|979)/;

/** Length of the shortest number in any plan, including the plus sign. */
const MIN_LENGTH = 7;

/**
 * Loads the numbering plans; resolves with a function that checks for premium-rate and satellite numbers. Digits after
 * a complete premium-rate number have no effect: networks ignore them.
 */
async function loadPremiumNumbers(): Promise<(e164: string) => boolean> {
  const { parsePhoneNumberFromString } = await import("libphonenumber-js/max");
  const typeOf = (e164: string) => parsePhoneNumberFromString(e164)?.getType();
  return (e164) => {
    if (COSTLY_CODES.test(e164)) return true;
    const type = typeOf(e164);
    if (type !== undefined) return type === "PREMIUM_RATE";
    for (let length = e164.length - 1; length >= MIN_LENGTH; length--)
      if (typeOf(e164.slice(0, length)) === "PREMIUM_RATE") return true;
    return false;
  };
}

/** The rule for the numbers that a trunk calls. */
export interface DestinationRule {
  readonly allowedPrefixes: readonly string[] | undefined;
  readonly allowEmergency: boolean;
  readonly allowPremium: boolean;
}

/** Reason why a number is not called; undefined if it may be called. */
export type RefusalOf = (e164: string) => string | undefined;

/** A {@link RefusalOf} that may be asynchronous. */
export type RefusalCheck = (e164: string) => string | undefined | Promise<string | undefined>;

/**
 * The check for a rule; the first use loads the numbering plans.
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

const EXTENSION = /^[1-9]\d{1,5}$/;

/**
 * True if a redirection to this URI may be followed: to a name without digits, to an extension that a switch cannot
 * mistake for an emergency number or another short code, or to an E.164 number that the rule allows.
 */
export async function mayFollow(
  { user = "" }: SipUri,
  refusalOf: RefusalCheck,
  format: NumberFormat,
): Promise<boolean> {
  if (!/\p{N}/u.test(user)) return true;
  // Parameters with digits, such as `phone-context` and `rn`, change the number that is called.
  const dialled = user.replace(/;\P{N}*$/u, "").replace(/[-.()]/g, "");
  if (EXTENSION.test(dialled)) return !beginsLikeEmergency(dialled);
  const e164 = dialled.startsWith("+") ? dialled : `+${dialled}`;
  const isE164 = PHONE_NUMBER.test(e164) && (dialled === e164 || format(e164) === dialled);
  return isE164 && (await refusalOf(e164)) === undefined;
}

/**
 * Checks that the URI that a call has chosen does not lead to a blocked number.
 * @param refusalOf the trunk's own rule for numbers
 * @throws {DialError} `rejected_by_network`
 */
export async function assertUriCallable(
  { format }: Pick<ResolvedTrunk, "format">,
  { sip, mayCall }: Pick<CarrierDialOptions, "sip" | "mayCall">,
  refusalOf: RefusalOf,
): Promise<void> {
  if (sip?.uri === undefined) return;
  const uri = parseUri(sip.uri);
  const refuses = async (e164: string): Promise<string | undefined> =>
    refusalOf(e164) ?? ((await mayCall?.(e164)) === false ? `this call may not go to ${e164}` : undefined);
  if (uri !== undefined && (await mayFollow(uri, refuses, format))) return;
  throw new DialError(
    "rejected_by_network",
    `not dialled: ${sip.uri} is not a URI, or leads to a number that is not called`,
  );
}
