/** `+1202…`, percent-encoded or not, with any separators between its digits. */
const INTERNATIONAL_NUMBER = /(\+|%(?:25)*2b)([1-9](?:[ ()./-]{0,2}\d){6,})/gi;

/**
 * Digits that may be a number without its plus: not part of an id, a fraction or a UUID, but possibly preceded by
 * characters from JSON, a URL or terminal colours.
 */
const WITHOUT_PLUS =
  /(?:(?<!\w|\w[.-])|(?<=\\[bfnrt])|(?<=\\u[\da-f]{4}|%[\da-f]{2}|\[\d{1,2}m))\d{9,15}(?!\w|[.-]\w)/gi;

/** Matches the strings of a JSON line and the text between them. */
const JSON_STRING = /"(?:[^"\\]|\\.)*"/g;

/** Hides the middle of every phone number in text: `+1202•••0100`. */
export function maskNumbers(text: string): string {
  return text
    .replace(INTERNATIONAL_NUMBER, (_, plus: string, number: string) => plus + maskDigits(number.replace(/\D/g, "")))
    .replace(WITHOUT_PLUS, maskDigits);
}

/** Masks the phone numbers in a JSON document; JSON numbers stay unchanged. */
export function maskNumbersInJson(json: string): string {
  return json.replace(JSON_STRING, maskNumbers);
}

const VISIBLE_DIGITS = 4;
const MIN_HIDDEN_DIGITS = 3;

/** Keeps four digits at each end, or fewer if the number is short, so that at least three are hidden. */
function maskDigits(digits: string): string {
  const start = Math.min(VISIBLE_DIGITS, Math.max(1, digits.length - VISIBLE_DIGITS - MIN_HIDDEN_DIGITS));
  const end = Math.min(VISIBLE_DIGITS, digits.length - start - MIN_HIDDEN_DIGITS);
  return `${digits.slice(0, start)}•••${digits.slice(digits.length - end)}`;
}
