import { isAmount, isCalledCode } from "./number-context.ts";

/** Minimum number of digits in a code: shorter numbers are read as numbers. */
const MIN_CODE_DIGITS = 4;
/** Length of the text examined before and after a number, UTF-16 code units. */
const CONTEXT_LENGTH = 48;
/** Minimum and maximum number of digits in a telephone number (E.164). */
const MIN_PHONE_DIGITS = 7;
const MAX_PHONE_DIGITS = 15;
/** Minimum number of digits in a number of several groups, such as 0800 123 4567. */
const MIN_GROUPED_DIGITS = 9;

const PHONE = /(?<![\p{L}\p{N}])\+\d(?:[ ()./-]{0,2}\d){6,14}(?!\d)/gu;
const GROUPED = /(?<![\d.,:/-])\d{2,}(?: \d{2,}){2,}(?![.,:/-]?\d)/g;
/** Digits, and groups of digits separated by one character. */
const NUMBER = /\d+(?:[-.,:/'’]\d+)*/g;

const YEAR = /^(?:19|20)\d\d$/;
/** Forms of a number that engines read as such: the parts of a range are checked individually. */
const READ_AS_NUMBER: readonly RegExp[] = [
  /^\d{1,2}(?::\d\d){1,2}$/, // a time
  /^\d{1,3}(?:[.,'’]\d{3})+(?:[.,]\d+)?$/, // groups of thousands
  /^\d+[.,]\d+$/, // a decimal
  /^\d{1,3}(?:\.\d{1,3}){2,}$/, // a version, an address
  YEAR,
  /^\d{1,3}$/,
];
const DATE = /^(?:(?:19|20)\d\d([-./])[01]?\d\1[0-3]?\d|[0-3]?\d([-./])[0-3]?\d\2(?:(?:19|20)\d\d|\d\d))$/;
const YEARS = /^(?:19|20)\d\d[-/](?:(?:19|20)\d\d|\d\d)$/;
/** Groups of three and a check digit, as of a tax number: 123.456.789-09. */
const WITH_CHECK_DIGITS = /^\d{1,3}(?:\.\d{3})+-\d{1,2}$/;

/**
 * A text in which codes are written digit by digit, because engines read 482913 as one number: `4 8 2, 9 1 3`.
 *
 * A code has four digits or more. Numbers stay unchanged if their form or the surrounding text identifies them: an
 * amount, a unit, a time, a date, a decimal, a group of thousands, a year from 1900 to 2099 that is not called a code.
 */
export function spokenDigits(text: string): string {
  return text
    .replace(PHONE, (number) => {
      const count = number.replace(/\D/g, "").length;
      return count >= MIN_PHONE_DIGITS && count <= MAX_PHONE_DIGITS ? `+ ${digitByDigit(number)}` : number;
    })
    .replace(GROUPED, (number) => (isGroupedCode(number.split(" ")) ? digitByDigit(number) : number))
    .replace(NUMBER, (number, at: number, fullText: string) => {
      if (number.length < MIN_CODE_DIGITS) return number;
      const end = at + number.length;
      const before = fullText.slice(Math.max(0, at - CONTEXT_LENGTH), at);
      const after = fullText.slice(end, end + CONTEXT_LENGTH);
      if (!isCode(number, before, after)) return number;
      return `${/[\p{L}\p{M}]$/u.test(before) ? " " : ""}${digitByDigit(number)}${/^\p{L}/u.test(after) ? " " : ""}`;
    });
}

function isCode(number: string, before: string, after: string): boolean {
  if (isAmount(before, after)) return false;
  if (/^\d+$/.test(number)) return !YEAR.test(number) || isCalledCode(before);
  if (WITH_CHECK_DIGITS.test(number)) return true;
  if (DATE.test(number) || YEARS.test(number)) return false;
  if (READ_AS_NUMBER.some((form) => form.test(number))) return false;
  return !number.split(/[-/]/).every((part) => READ_AS_NUMBER.some((form) => form.test(part)));
}

function isGroupedCode(groups: readonly string[]): boolean {
  const digits = groups.join("").length;
  const isThousands = groups.every(({ length }, i) => (i === 0 ? length <= 3 : length === 3));
  return digits >= MIN_GROUPED_DIGITS && !isThousands && !groups.every((group) => YEAR.test(group));
}

/** The digits of a number, separated by spaces; a comma makes a pause between groups. */
function digitByDigit(number: string): string {
  const groups = number.match(/\d+/g) ?? [];
  return groups
    .flatMap(pausedGroups)
    .map((group) => [...group].join(" "))
    .join(", ");
}

/** Groups of three digits, the last one of two to four. */
function pausedGroups(digits: string): string[] {
  const groups: string[] = [];
  let at = 0;
  for (; digits.length - at > 4; at += 3) groups.push(digits.slice(at, at + 3));
  groups.push(digits.slice(at));
  return groups;
}
