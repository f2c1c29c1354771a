/** `+1202…`, percent-encoded or not, and however its digits are set apart. */
const INTERNATIONAL = /(\+|%(?:25)*2b)([1-9](?:[ ()./-]{0,2}\d){6,})/gi;

/**
 * Digits alone that may be a number without its plus: not a part of an id, a fraction or a UUID, but behind whatever
 * JSON, an address or a terminal's colours put in front of them.
 */
const BARE = /(?:(?<!\w|\w[.-])|(?<=\\[bfnrt])|(?<=\\u[\da-f]{4}|%[\da-f]{2}|\[\d{1,2}m))\d{9,15}(?!\w|[.-]\w)/gi;

/** A line of JSON consists of strings and of what is between them. */
const JSON_STRING = /"(?:[^"\\]|\\.)*"/g;

/** Takes the middle out of every phone number in a text: `+1202•••0100`. */
export function maskNumbers(text: string): string {
  return text
    .replace(INTERNATIONAL, (_, plus: string, number: string) => plus + maskDigits(number.replace(/\D/g, "")))
    .replace(BARE, maskDigits);
}

/** The same for a JSON document, whose own numbers stay as they are. */
export function maskNumbersInJson(json: string): string {
  return json.replace(JSON_STRING, maskNumbers);
}

const KEPT = 4;
const MIN_HIDDEN = 3;

/** Keeps four digits at both ends, fewer of a short number, so that never fewer than three are hidden. */
function maskDigits(digits: string): string {
  const start = Math.min(KEPT, Math.max(1, digits.length - KEPT - MIN_HIDDEN));
  const end = Math.min(KEPT, digits.length - start - MIN_HIDDEN);
  return `${digits.slice(0, start)}•••${digits.slice(digits.length - end)}`;
}
