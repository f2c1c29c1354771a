import type { WhatsAppNumber } from "../../ports/whatsapp-client.ts";
import { contactToken } from "./contact-tokens.ts";
import { digitsOf, type FakeNumber, isPossibleNumber, lidOf, userOf, whatsAppForm } from "./numbers.ts";

/** The numbers of a fake network, with their addresses. */
export class Directory {
  /** Behaviour of numbers that {@link describe} did not describe; null: they are not on WhatsApp. */
  otherNumbers: FakeNumber | null = {};
  readonly #numbers = new Map<string, FakeNumber>();
  /** The number of each assigned LID. */
  readonly #lids = new Map<string, string>();

  describe(phone: string, number: FakeNumber): void {
    this.#numbers.set(digitsOf(phone), number);
  }

  lookUp(digits: string): WhatsAppNumber {
    const phoneJid = `${digits}@s.whatsapp.net`;
    const form = this.#registeredForm(digits);
    if (form === undefined) return { phoneJid, lidJid: null, exists: false, invalid: !isPossibleNumber(digits) };
    return { phoneJid: `${form}@s.whatsapp.net`, lidJid: this.#lidOf(form), exists: true, invalid: false };
  }

  /** Behaviour of a number; undefined if it is not on WhatsApp. */
  numberOf(phone: string): FakeNumber | undefined {
    const form = this.#registeredForm(phone);
    return form === undefined ? undefined : (this.#numbers.get(form) ?? this.otherNumbers ?? undefined);
  }

  /** The JID that the network uses for a JID: the hidden address if there is one. */
  resolve(jid: string): string {
    const form = this.#registeredForm(this.phoneOf(jid));
    return form === undefined ? jid : this.peerOf(form);
  }

  /** The JID that the network uses for a number. */
  peerOf(phone: string): string {
    return this.#lidOf(phone) ?? `${phone}@s.whatsapp.net`;
  }

  /** The privacy tokens in the history of an owner's phone, by the address of the contact. */
  historyOf(owner: string): ReadonlyMap<string, Uint8Array> {
    const contacts = [...this.#numbers].filter(([, { inHistory }]) => inHistory !== undefined);
    return new Map(
      contacts.map(([phone, { inHistory }]) => [
        inHistory === "phone" ? `${phone}@s.whatsapp.net` : this.peerOf(phone),
        contactToken(phone, owner),
      ]),
    );
  }

  /** The digits of the number behind a JID; empty for an unknown hidden address. */
  phoneOf(jid: string): string {
    return jid.endsWith("@lid") ? (this.#lids.get(userOf(jid)) ?? "") : userOf(jid);
  }

  /** The form under which a number is on WhatsApp; undefined if it is not. */
  #registeredForm(digits: string): string | undefined {
    if (!isPossibleNumber(digits)) return undefined;
    const describedNumber = this.#numbers.get(digits);
    if (describedNumber !== undefined) return describedNumber.exists === false ? undefined : digits;
    for (const [form, number] of this.#numbers)
      if (number.alsoKnownAs?.some((other) => digitsOf(other) === digits)) return form;
    return this.otherNumbers !== null && whatsAppForm(digits) === digits ? digits : undefined;
  }

  #lidOf(phone: string): string | null {
    const describedLid = this.#numbers.get(phone)?.lid;
    const lid = describedLid === undefined ? lidOf(phone) : describedLid;
    if (lid !== null) this.#lids.set(userOf(lid), phone);
    return lid;
  }
}
