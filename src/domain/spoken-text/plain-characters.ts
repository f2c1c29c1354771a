/**
 * Letters and numbers in a typographic form: letterlike, Roman and circled numbers, ligatures, wide and mathematical
 * letters.
 */
const FORMS =
  /[\u24b6-\u24e9]|(?=[\p{L}\p{N}])[\u2102-\u2139\u2160-\u2188\u2460-\u249b\ufb00-\ufb4f\ufb50-\ufdfb\ufe70-\ufefc\uff10-\uffdc\u{1d400}-\u{1d7ff}]/gu;
const NUMBER_SIGNS = /^[\u2460-\u24ff]$/u;
const DIGIT = /\p{Nd}/gu;

/**
 * A text with its letters and digits in plain form, which every engine supports: `ｈｉ ﬁ ③ ٣` becomes `hi fi 3 3`.
 * Digits of all scripts become those from 0 to 9.
 */
export function plainCharacters(text: string): string {
  return text
    .replace(FORMS, (form) => (NUMBER_SIGNS.test(form) ? ` ${form.normalize("NFKC")} ` : form.normalize("NFKC")))
    .replace(DIGIT, (digit) => (digit <= "9" ? digit : String(digitValue(digit))));
}

/** The value of a decimal digit: each script has ten of them in a row, from 0 on. */
function digitValue(digit: string): number {
  const code = digit.codePointAt(0) ?? 0;
  let first = code;
  while (/^\p{Nd}$/u.test(String.fromCodePoint(first - 1))) first--;
  return (code - first) % 10;
}
