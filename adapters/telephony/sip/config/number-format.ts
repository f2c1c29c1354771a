/** Writes an E.164 number in a trunk's format; undefined if the format cannot express it. */
export type NumberFormat = (e164: string) => string | undefined;

/** A template: one placeholder, and the characters allowed around it. */
const TEMPLATE = /^([0-9A-Za-z+*#._-]*)\{(e164|digits|national:([1-9][0-9]{0,3}))\}([0-9A-Za-z+*#._-]*)$/;

/** The valid formats, for fault messages. */
export const NUMBER_FORMATS =
  "e164 (+12025550100), digits (12025550100), or a template with one of {e164}, {digits} and {national:<country code>}, such as 0{national:49}";

/**
 * The format that a trunk's `numberFormat` names; undefined if it is not valid.
 *
 * A national template strips the country code and accepts only that country's numbers: `0{national:49}` writes
 * +49301234567 as 0301234567, and cannot write +12025550100.
 */
export function diallingFormat(format: string): NumberFormat | undefined {
  if (format === "e164") return (e164) => e164;
  if (format === "digits") return digits;
  const [, prefix, placeholder, countryCode, suffix] = TEMPLATE.exec(format) ?? [];
  if (placeholder === undefined) return undefined;
  return (e164) => {
    const number = placeholder === "e164" ? e164 : national(digits(e164), countryCode ?? "");
    return number === undefined ? undefined : `${prefix}${number}${suffix}`;
  };
}

function digits(e164: string): string {
  return e164.replace(/^\+/, "");
}

function national(number: string, countryCode: string): string | undefined {
  return number.startsWith(countryCode) && number.length > countryCode.length
    ? number.slice(countryCode.length)
    : undefined;
}
