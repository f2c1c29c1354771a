import { PHONE_NUMBER } from "../../../../../src/domain/numbers/phone-number.ts";
import { phoneNumberOf } from "../calls/phone-number.ts";

const KEY = "ringport-phone-number";
/** The number of the first phone that is opened: a number outside the plan of the simulated network. */
const FIRST_NUMBER = "+12025550147";

/**
 * The E.164 form of a number as people type it, such as `+1 (202) 555-0147`; undefined if it is not a number. In the
 * query of an address, a plus that was not encoded has become a space.
 */
export function numberFrom(text: string): string | undefined {
  const number = phoneNumberOf(text.replace(/^ /, "+"));
  return PHONE_NUMBER.test(number) ? number : undefined;
}

/** The number of the last phone that was open in this browser, or one for the first. */
export function rememberedNumber(): string {
  return remembered() ?? FIRST_NUMBER;
}

/** True if a phone was open in this browser before. */
export function hasOpenedPhone(): boolean {
  return remembered() !== null;
}

function remembered(): string | null {
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
    // A browser without storage forgets it with the page.
  }
}
