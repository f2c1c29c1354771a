/** Maximum length of an address that is parsed, characters. */
const MAX_LENGTH = 100;

/** A WhatsApp address, such as `5511987654321:7@s.whatsapp.net` or `123456789@lid`. */
export interface Jid {
  readonly user: string;
  /** Number of the device; 0 is the phone. */
  readonly device: number;
  /** `s.whatsapp.net`, `lid` and the like. */
  readonly server: string;
}

/** Reads an address; returns undefined for anything else. */
export function readJid(value: unknown): Jid | undefined {
  if (typeof value !== "string" || value.length > MAX_LENGTH) return undefined;
  // The agent after a dot, and the device after a colon, are left out if they are 0.
  const match = /^(\d{1,25})(?:\.\d{1,3})?(?::(\d{1,5}))?@([a-z][a-z.]{1,30})$/.exec(value);
  const [, user, device = "0", server] = match ?? [];
  return user === undefined || server === undefined ? undefined : { user, device: Number(device), server };
}

/** True if an address is one of a subscriber's addresses, or belongs to one of their devices. */
export function isOneOf(addresses: readonly Jid[], { server, user }: Jid): boolean {
  return addresses.some((address) => address.server === server && address.user === user);
}

/**
 * True unless an address certainly belongs to another subscriber: addresses of different servers cannot be compared.
 */
export function mayBeOneOf(addresses: readonly Jid[], jid: Jid): boolean {
  return isOneOf(addresses, jid) || addresses.every(({ server }) => server !== jid.server);
}
