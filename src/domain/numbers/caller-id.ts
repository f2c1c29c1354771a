import { isVisible } from "../input/visible-text.ts";
import { PHONE_NUMBER } from "./phone-number.ts";

/** The caller as the callee sees it; the network fills in missing parts. */
export interface CallerId {
  /** E.164. */
  readonly phoneNumber?: string | undefined;
  /** The name shown next to the number or instead of it. */
  readonly displayName?: string | undefined;
  /** Withholds number and name from the callee. */
  readonly withheld?: boolean | undefined;
}

/** The allowed caller numbers: E.164 numbers, prefixes that end in `*`, or `*` for any number. */
export type CallerIdRule = readonly string[] | "*";

/** Form of a {@link CallerIdRule} entry, for messages. */
export const CALLER_ID_RULE =
  'an E.164 number, such as "+12025550100", or the beginning of one and *, such as "+1202555*"';

/** Maximum length of a display name, characters. */
export const DISPLAY_NAME_LENGTH = 80;

/** True if the value is an entry of a {@link CallerIdRule}. */
export function isCallerIdEntry(value: string): boolean {
  return PHONE_NUMBER.test(value) || /^\+[1-9]\d{0,14}\*$/.test(value);
}

/** True if the value is a visible name of one line, of 1 to 80 characters. */
export function isDisplayName(value: string): boolean {
  return isVisible(value) && value.length <= DISPLAY_NAME_LENGTH && !/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(value);
}

/** True if calls may come from this number. */
export function isCallerIdAllowed(phoneNumber: string, rule: CallerIdRule): boolean {
  if (rule === "*") return true;
  return rule.some((entry) =>
    entry.endsWith("*") ? phoneNumber.startsWith(entry.slice(0, -1)) : phoneNumber === entry,
  );
}

/** The caller of a call: each field as in the call, otherwise as in its instance; undefined if neither has any. */
export function callerOf(callChoice: CallerId | undefined, instance?: CallerId | null): CallerId | undefined {
  const caller = { ...instance, ...callChoice };
  return Object.keys(caller).length === 0 ? undefined : caller;
}
