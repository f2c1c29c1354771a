/**
 * Satellite phones and networks without a country, which cost as much as premium-rate numbers, and the international
 * premium-rate service itself: the ITU's list of assigned country codes (Recommendation E.164, annex).
 */
const COSTLY_CODES = /^\+(?:870|881|882|883|979)/;

/** Length of the shortest number of any plan, with its plus. */
const SHORTEST = 7;

/**
 * Loads the numbering plans; resolves with a function that checks for premium-rate and satellite numbers.
 * Digits after a complete premium-rate number change nothing: networks ignore them.
 */
export async function loadPremiumNumbers(): Promise<(e164: string) => boolean> {
  const { parsePhoneNumberFromString } = await import("libphonenumber-js/max");
  const typeOf = (e164: string) => parsePhoneNumberFromString(e164)?.getType();
  return (e164) => {
    if (COSTLY_CODES.test(e164)) return true;
    const type = typeOf(e164);
    if (type !== undefined) return type === "PREMIUM_RATE";
    for (let length = e164.length - 1; length >= SHORTEST; length--)
      if (typeOf(e164.slice(0, length)) === "PREMIUM_RATE") return true;
    return false;
  };
}
