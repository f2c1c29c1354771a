/** Behaviour of one of a callee's devices during a call; a device without any of these keeps ringing. */
export type CalleeDevice =
  /** Answers. */
  | { readonly does: "answer"; readonly afterMs: number }
  /** Declines for all devices of the callee. */
  | { readonly does: "decline"; readonly afterMs: number }
  /** Is busy; the other devices keep ringing. */
  | { readonly does: "busy"; readonly afterMs: number }
  /** Keeps ringing. */
  | { readonly does: "nothing" };

/** Behaviour of a number's callee. Times are ms. */
export interface FakeNumber {
  /** True if the number is on WhatsApp. Default: true. */
  readonly exists?: boolean;
  /** The address that hides the number, such as `123@lid`; null for none. Default: a separate one. */
  readonly lid?: string | null;
  /** Other formats of the number that the network accepts. Default: none. */
  readonly alsoKnownAs?: readonly string[];
  /** One entry for each device. Default: a device that answers after 1000 ms. With none, `startCall` rejects. */
  readonly devices?: readonly CalleeDevice[];
  /** Treatment of the offer by the network: `ignored` sends no ack. Default: `accepted`. */
  readonly offer?: "accepted" | "ignored" | { readonly error: number };
  /**
   * Address of the callee in stanzas: the called one, the other (its phone JID for a LID), or lists with both. Default:
   * `called`.
   */
  readonly addressForm?: "called" | "other" | "both";
  /**
   * Part of the offer's ack that lists the callee's devices: its relay, a sibling `<user>`, or none. Default: `relay`.
   */
  readonly deviceList?: "relay" | "user" | "none";
  /**
   * Address under which the history of each new link has the privacy token of this contact; undefined for a person who
   * is not in the history. Default: undefined.
   */
  readonly inHistory?: "lid" | "phone";
  /** Delay before the first device that is not busy reports ringing; null for never. Default: 200. */
  readonly ringsAfterMs?: number | null;
  /** Delay before the network ends the ringing with `<terminate reason="timeout">`. Default: never. */
  readonly timesOutAfterMs?: number;
  /**
   * `one-way`: the callee hears, but no audio arrives from it. `mute`: the relay connects and passes nothing on.
   * `never`: it never connects. Default: `both`.
   */
  readonly media?: "both" | "one-way" | "mute" | "never";
  /** Time from the answer until the relay connects, if it has no ports. Default: 100. */
  readonly mediaAfterMs?: number;
  /** Speech of the callee from the connected relay on, 16 kHz. Default: silence. */
  readonly speaks?: Int16Array;
  /** True if the number echoes its input one frame later while it does not speak. Default: false. */
  readonly echoes?: boolean;
  /** Time from the answer until the callee hangs up. Default: never. */
  readonly hangsUpAfterMs?: number;
}

const MIN_DIGITS = 7;
const MAX_DIGITS = 15;
/** In Brazilian area codes below this, WhatsApp's mobile numbers have the ninth digit; in others they do not. */
const NINTH_DIGIT_BELOW = 31;

/** The digits of a number in any spelling. */
export function digitsOf(phone: string): string {
  return phone.replace(/\D/g, "");
}

/** True if these digits can be a phone number. */
export function isPossibleNumber(digits: string): boolean {
  return digits.length >= MIN_DIGITS && digits.length <= MAX_DIGITS && !digits.startsWith("0");
}

/**
 * WhatsApp's form of a number that no test has described: Brazilian mobile numbers have the ninth digit in the area
 * codes 11 to 28, and lack it in all others.
 */
export function whatsAppForm(digits: string): string {
  const mobile = /^55(\d\d)(9?)([6-9]\d{7})$/.exec(digits);
  if (mobile === null) return digits;
  const [, area, , localNumber] = mobile;
  return `55${area}${Number(area) < NINTH_DIGIT_BELOW ? "9" : ""}${localNumber}`;
}

/** An address that hides the number, always the same (FNV-1a, twice). */
export function lidOf(digits: string): string {
  let parts = "";
  for (const seed of [0x811c9dc5, 0x01000193]) {
    let hash = seed;
    for (const digit of digits) hash = Math.imul(hash ^ digit.charCodeAt(0), 0x01000193);
    parts += String(1_000_000 + ((hash >>> 0) % 9_000_000));
  }
  return `${parts}@lid`;
}

/** The other address of a number that is called by `jid`: its phone JID for a LID, and a LID for its phone JID. */
export function otherAddress(jid: string, digits: string): string {
  return jid.endsWith("@lid") ? `${digits}@s.whatsapp.net` : lidOf(digits);
}

/** The user part of a JID: `5511987654321:7@s.whatsapp.net` gives `5511987654321`. */
export function userOf(jid: string): string {
  return jid.replace(/[:@].*$/s, "");
}

/** The device number in a JID; 0 if it names none. */
export function deviceOf(jid: string): number {
  return Number(/:(\d+)@/.exec(jid)?.[1] ?? 0);
}

/** The JID of an address's device; device 0 is the phone itself. */
export function deviceJid(jid: string, device: number): string {
  const [user, server] = jid.split("@");
  return device === 0 ? jid : `${user}:${device}@${server}`;
}
