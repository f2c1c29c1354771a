/** Minimum number of digits without a plus or an address: fewer digits may be any other number. */
const MIN_BARE_DIGITS = 10;

/** A phone number, to be found in text of all kinds: JSON, SIP messages, record keys. */
export interface MentionedNumber {
  /** E.164. */
  readonly phone: string;
  /** Digits of the number without the plus: every text that mentions it has them in one piece. */
  readonly digits: string;
  /**
   * True if the text mentions the number: `+12025550100`, `0012025550100`, `sip:12025550100@…`; not as part of a longer
   * number.
   */
  isIn(text: string): boolean;
}

/** A number as mentioned in texts. @param phone E.164 */
export function mentionedNumber(phone: string): MentionedNumber {
  const digits = phone.slice(1);
  const barePattern =
    digits.length < MIN_BARE_DIGITS ? String.raw`(?<!\d)${digits}(?=[@|])` : String.raw`(?<!\d)${digits}(?!\d)`;
  const mention = new RegExp(String.raw`(?:\+|%2B|(?<!\d)00)${digits}(?!\d)|${barePattern}`, "i");
  return { phone, digits, isIn: (text) => mention.test(text) };
}
