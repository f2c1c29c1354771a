import { AccountRefusal } from "./account-refusal.ts";
import { COMMON_PASSWORDS } from "./common-passwords.ts";
import { emailKey } from "./email.ts";

/** Length of a password, characters. */
export const PASSWORD_LENGTH = { min: 10, max: 256 } as const;

/**
 * A password in the form that is hashed (NFKC), because keyboards differ in how they compose characters; undefined for
 * an invalid password.
 */
export function passwordOf(input: unknown): string | undefined {
  // Limits the work: a longer password is also too long in its normal form.
  if (typeof input !== "string" || input.length > 8 * PASSWORD_LENGTH.max || /\p{Cs}/u.test(input)) return undefined;
  const password = input.normalize("NFKC");
  const { length } = [...password];
  return length >= PASSWORD_LENGTH.min && length <= PASSWORD_LENGTH.max ? password : undefined;
}

/**
 * A new password for the account with this email address.
 * @throws {AccountRefusal} `password_invalid`, `password_common`; the message never contains the password
 */
export function checkedPassword(input: unknown, email: string): string {
  const { min, max } = PASSWORD_LENGTH;
  const password = passwordOf(input);
  if (password === undefined)
    throw new AccountRefusal("password_invalid", `the password must have ${min} to ${max} characters`);
  if (password.toLowerCase() === emailKey(email))
    throw new AccountRefusal("password_invalid", "the password must not be the email address");
  if (COMMON_PASSWORDS.has(password.toLowerCase()))
    throw new AccountRefusal("password_common", "the password is one of the 3,000 most common; choose another");
  return password;
}
