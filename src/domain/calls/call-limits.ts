import { shown } from "../../base/shown.ts";

/** Allowed destinations, and the number of calls that may be created; an omitted limit does not apply. */
export interface CallLimits {
  /** Prefixes of E.164 numbers, such as `+49` and `+1415`. Default: every number. */
  readonly allowedPrefixes?: readonly string[] | undefined;
  /** Maximum number of calls created within 24 hours. Default: unlimited. */
  readonly maxCallsPerDay?: number | undefined;
}

/** The window of `maxCallsPerDay`, ms. */
export const CALL_WINDOW_MS = 24 * 60 * 60_000;

/** Form of a prefix, for messages. */
export const PREFIX_RULE = "+ and 1 to 15 digits, country code first, such as +49 or +1415";

/** True if the value is the beginning of an E.164 number. */
export function isPrefix(value: unknown): value is string {
  return typeof value === "string" && /^\+[1-9]\d{0,14}$/.test(value);
}

/** True if the number starts with one of the prefixes; without a list, every number is allowed. */
export function isAllowed(phoneNumber: string, prefixes: readonly string[] | undefined): boolean {
  return prefixes === undefined || prefixes.some((prefix) => phoneNumber.startsWith(prefix));
}

/**
 * The limits, each prefix once.
 * @throws {RangeError} that names the value and the fix
 */
export function checkedCallLimits({ allowedPrefixes, maxCallsPerDay }: CallLimits): CallLimits {
  if (maxCallsPerDay !== undefined && !(Number.isSafeInteger(maxCallsPerDay) && maxCallsPerDay >= 1))
    throw new RangeError(
      `maxCallsPerDay is ${shown(maxCallsPerDay)}: it must be a whole number from 1; leave it out for no limit`,
    );
  return { allowedPrefixes: allowedPrefixes && checkedPrefixes(allowedPrefixes), maxCallsPerDay };
}

/**
 * The limits of a token; missing limits are taken from the issuer.
 * @throws {RangeError} if they allow more than the issuer's
 */
export function limitsWithin(limits: CallLimits, issuerLimits: CallLimits): CallLimits {
  const excessPrefix = limits.allowedPrefixes?.find((prefix) => !isAllowed(prefix, issuerLimits.allowedPrefixes));
  if (excessPrefix !== undefined)
    throw new RangeError(
      `allowedPrefixes contains "${excessPrefix}", which the issuer may not call: use ${issuerLimits.allowedPrefixes?.join(", ")}`,
    );
  const { maxCallsPerDay = Infinity } = issuerLimits;
  if (limits.maxCallsPerDay !== undefined && limits.maxCallsPerDay > maxCallsPerDay)
    throw new RangeError(`maxCallsPerDay is ${limits.maxCallsPerDay}: the issuer's own limit is ${maxCallsPerDay}`);
  return {
    allowedPrefixes: limits.allowedPrefixes ?? issuerLimits.allowedPrefixes,
    maxCallsPerDay: limits.maxCallsPerDay ?? issuerLimits.maxCallsPerDay,
  };
}

function checkedPrefixes(prefixes: readonly string[]): readonly string[] {
  if (!Array.isArray(prefixes) || prefixes.length === 0)
    throw new RangeError(
      `allowedPrefixes is ${shown(prefixes)}: it must be a list of prefixes such as ["+49", "+1415"]; leave it out to allow every number`,
    );
  const invalidPrefix = prefixes.find((prefix) => !isPrefix(prefix));
  if (invalidPrefix !== undefined)
    throw new RangeError(`allowedPrefixes contains ${shown(invalidPrefix)}: write ${PREFIX_RULE}`);
  return [...new Set(prefixes)];
}
