import { shown } from "../../base/shown.ts";

/** Allowed destinations, and the number of calls that may be created; an omitted limit does not apply. */
export interface CallLimits {
  /** Beginnings of E.164 numbers, such as `+49` and `+1415`. Default: every number. */
  readonly allowedPrefixes?: readonly string[] | undefined;
  /** Calls created within 24 hours. Default: unlimited. */
  readonly maxCallsPerDay?: number | undefined;
}

/** The window of `maxCallsPerDay`, ms. */
export const CALL_WINDOW_MS = 24 * 60 * 60_000;

/** Form of a prefix, for messages. */
export const PREFIX_RULE = "+ and 1 to 15 digits, country code first, such as +49 or +1415";

/** True if it is the beginning of an E.164 number. */
export function isPrefix(value: unknown): value is string {
  return typeof value === "string" && /^\+[1-9]\d{0,14}$/.test(value);
}

/** True if the number starts with one of the prefixes; without a list every number may be called. */
export function isAllowed(phoneNumber: string, prefixes: readonly string[] | undefined): boolean {
  return prefixes === undefined || prefixes.some((prefix) => phoneNumber.startsWith(prefix));
}

/**
 * The limits, each prefix once.
 * @throws {RangeError} naming the value and what to write instead
 */
export function checkedCallLimits({ allowedPrefixes, maxCallsPerDay }: CallLimits): CallLimits {
  if (maxCallsPerDay !== undefined && !(Number.isSafeInteger(maxCallsPerDay) && maxCallsPerDay >= 1))
    throw new RangeError(
      `maxCallsPerDay is ${shown(maxCallsPerDay)}: it must be a whole number from 1; leave it out for no limit`,
    );
  return { allowedPrefixes: allowedPrefixes && checkedPrefixes(allowedPrefixes), maxCallsPerDay };
}

/**
 * The limits of a token; missing ones are taken from the issuer.
 * @throws {RangeError} they allow more
 */
export function limitsWithin(limits: CallLimits, outer: CallLimits): CallLimits {
  const excess = limits.allowedPrefixes?.find((prefix) => !isAllowed(prefix, outer.allowedPrefixes));
  if (excess !== undefined)
    throw new RangeError(
      `allowedPrefixes contains "${excess}", which the issuer may not call: use ${outer.allowedPrefixes?.join(", ")}`,
    );
  const { maxCallsPerDay = Infinity } = outer;
  if (limits.maxCallsPerDay !== undefined && limits.maxCallsPerDay > maxCallsPerDay)
    throw new RangeError(`maxCallsPerDay is ${limits.maxCallsPerDay}: the issuer's own limit is ${maxCallsPerDay}`);
  return {
    allowedPrefixes: limits.allowedPrefixes ?? outer.allowedPrefixes,
    maxCallsPerDay: limits.maxCallsPerDay ?? outer.maxCallsPerDay,
  };
}

function checkedPrefixes(prefixes: readonly string[]): readonly string[] {
  if (!Array.isArray(prefixes) || prefixes.length === 0)
    throw new RangeError(
      `allowedPrefixes is ${shown(prefixes)}: it must be a list of prefixes such as ["+49", "+1415"]; leave it out to allow every number`,
    );
  const invalid = prefixes.find((prefix) => !isPrefix(prefix));
  if (invalid !== undefined) throw new RangeError(`allowedPrefixes contains ${shown(invalid)}: write ${PREFIX_RULE}`);
  return [...new Set(prefixes)];
}
