/**
 * The E.164 form of a number as people type it: `+1 (202) 555-0100` and `001 202 555 0100` are
 * `+12025550100`. Any other text is returned trimmed, so that a message can quote it.
 */
export function phoneNumberOf(typed: string): string {
  const text = typed.trim();
  const compact = text.replace(/[\s().\-/\u00a0\u2010-\u2015]+/g, "");
  if (!/^(?:\+|00)\d+$/.test(compact)) return text;
  return compact.replace(/^00/, "+");
}

/** Numbers in groups, which are easier to read: `+1 202 555 0100`. */
export function spacedNumber(number: string): string {
  const [, north] = /^\+1(\d{10})$/.exec(number) ?? [];
  if (north !== undefined) return `+1 ${north.slice(0, 3)} ${north.slice(3, 6)} ${north.slice(6)}`;
  return number;
}
