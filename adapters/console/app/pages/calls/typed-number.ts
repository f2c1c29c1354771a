/**
 * The E.164 form of a typed number: `+1 (202) 555-0100` and `001 202 555 0100` are `+12025550100`. Any other text is
 * returned trimmed, so that a message can quote it.
 */
export function phoneNumberOf(input: string): string {
  const text = input.trim();
  const compact = text.replace(/[\s().\-/\u00a0\u2010-\u2015]+/g, "");
  if (!/^(?:\+|00)\d+$/.test(compact)) return text;
  return compact.replace(/^00/, "+");
}

/** Numbers in groups, which are easier to read: `+1 202 555 0100`. */
export function spacedNumber(number: string): string {
  const [, nationalDigits] = /^\+1(\d{10})$/.exec(number) ?? [];
  if (nationalDigits !== undefined)
    return `+1 ${nationalDigits.slice(0, 3)} ${nationalDigits.slice(3, 6)} ${nationalDigits.slice(6)}`;
  return number;
}
