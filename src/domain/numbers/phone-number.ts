import { invalidInput } from "../refusal.ts";

/** An E.164 number. */
export const PHONE_NUMBER: RegExp = /^\+[1-9]\d{6,14}$/;
export const PHONE_RULE = "must be an E.164 number: + and 7 to 15 digits, such as +12025550100";

/**
 * Returns the phone number if it is one.
 * @throws {Refusal} `phone_number_invalid`
 */
export function checkedPhone(phone: unknown, pointer: string): string {
  if (typeof phone === "string" && PHONE_NUMBER.test(phone)) return phone;
  throw invalidInput([{ pointer, code: "phone_number_invalid", detail: PHONE_RULE }]);
}

/**
 * Converts a number as people write it to the form that calls need. Unchanged without + or 00: a local number could
 * become that of a person in another country.
 */
export function plainNumber(text: string): string {
  const trimmedText = text.trim();
  if (!/^[+\d\s().\-/\u00a0\u2010-\u2015]+$/u.test(trimmedText)) return trimmedText;
  const digits = trimmedText.replace(/[^+\d]/g, "");
  const number = digits.startsWith("00") ? `+${digits.slice(2)}` : digits;
  return PHONE_NUMBER.test(number) ? number : trimmedText;
}
