import { PHONE_NUMBER } from "../../../../../src/domain/numbers/phone-number.ts";
import { phoneNumberOf } from "../calls/typed-number.ts";

const KEY = "ringport-phone-number";
/** Default number of a phone, outside the simulated network's number plan. */
const FIRST_NUMBER = "+12025550147";

/**
 * The E.164 form of a typed number, such as `+1 (202) 555-0147`; undefined if it is not a number. In a URL's query, a
 * plus that was not encoded is read as a space.
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
    // Without storage, the browser forgets the number when the page is closed.
  }
}
