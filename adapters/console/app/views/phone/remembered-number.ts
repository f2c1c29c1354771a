import { PHONE_NUMBER } from "../../../../../src/domain/numbers/phone-number.ts";
import { phoneNumberOf } from "../calls/typed-number.ts";

const KEY = "ringport-phone-number";
/** Default number of a phone, outside the plan of the simulated network. */
const FIRST_NUMBER = "+12025550147";

/**
 * The E.164 form of a typed number, such as `+1 (202) 555-0147`; undefined if it is not a number. In the query of an
 * address, a plus that was not encoded has become a space.
 */
export function numberFrom(text: string): string | undefined {
  const number = phoneNumberOf(text.replace(/^ /, "+"));
  return PHONE_NUMBER.test(number) ? number : undefined;
}

/** The number of the last phone opened in this browser, or a default. */
export function rememberedNumber(): string {
  return storedNumber() ?? FIRST_NUMBER;
}

/** True if a phone has been opened in this browser. */
export function hasOpenedPhone(): boolean {
  return storedNumber() !== null;
}

function storedNumber(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

export function rememberNumber(number: string): void {
  try {
    localStorage.setItem(KEY, number);
  } catch {
    // A browser without storage forgets it when the page is closed.
  }
}
