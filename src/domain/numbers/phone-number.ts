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
