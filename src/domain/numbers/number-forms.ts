interface TwoForms {
  readonly pattern: RegExp;
  /** The other form of a number that matches. */
  readonly otherForm: (...parts: string[]) => string;
}

/** Countries in which a mobile number has two forms, only one of which a network such as WhatsApp uses. */
const TWO_FORMS: readonly TwoForms[] = [
  // Brazil: the ninth digit, which mobile numbers got between 2012 and 2016.
  { pattern: /^55(\d\d)9([6-9]\d{7})$/, otherForm: (area, number) => `55${area}${number}` },
  { pattern: /^55(\d\d)([6-9]\d{7})$/, otherForm: (area, number) => `55${area}9${number}` },
  // Mexico: the 1 that calls to mobile phones had until 2019.
  { pattern: /^521(\d{10})$/, otherForm: (number) => `52${number}` },
  { pattern: /^52(\d{10})$/, otherForm: (number) => `521${number}` },
  // Argentina: the 9 of calls from abroad.
  { pattern: /^549(\d{10})$/, otherForm: (number) => `54${number}` },
  { pattern: /^54(\d{10})$/, otherForm: (number) => `549${number}` },
];

/** Canonical form of a number, which is the same for all spellings of one phone. @param phoneNumber E.164 */
export function phoneKeyOf(phoneNumber: string): string {
  return [...numberForms(phoneNumber)].sort()[0] ?? phoneNumber;
}

/** All formats of a number that reach the same phone, starting with `phoneNumber`. @param phoneNumber E.164 */
export function numberForms(phoneNumber: string): readonly string[] {
  const digits = phoneNumber.slice(1);
  for (const { pattern, otherForm } of TWO_FORMS) {
    const match = pattern.exec(digits);
    if (match !== null) return [phoneNumber, `+${otherForm(...match.slice(1))}`];
  }
  return [phoneNumber];
}
