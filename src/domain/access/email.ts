import { AccountRefusal } from "./account-refusal.ts";

/** Maximum length of an address: a path has 256 characters, including its brackets (RFC 5321 §4.5.3.1.3). */
const MAX_LENGTH = 254;

/** The addresses that `<input type="email">` accepts (HTML standard, "valid e-mail address"); ASCII only. */
const EMAIL =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;

/** A typed email address, trimmed; undefined if it is invalid. */
export function emailOf(input: unknown): string | undefined {
  if (typeof input !== "string" || input.length > 2 * MAX_LENGTH) return undefined;
  const email = input.trim();
  return email.length <= MAX_LENGTH && EMAIL.test(email) ? email : undefined;
}

/** Canonical form of an address, which identifies an account. */
export function emailKey(email: string): string {
  return email.toLowerCase();
}

/** @throws {AccountRefusal} `email_invalid` */
export function checkedEmail(input: unknown): string {
  const email = emailOf(input);
  if (email === undefined)
    throw new AccountRefusal("email_invalid", "the email address is invalid: it must look like ana@example.com");
  return email;
}
