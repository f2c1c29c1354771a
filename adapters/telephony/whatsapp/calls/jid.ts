/** Longest address that is looked at, characters. */
const LONGEST = 100;

/** An address of WhatsApp, such as `5511987654321:7@s.whatsapp.net` or `123456789@lid`. */
export interface Jid {
  readonly user: string;
  /** 0: the phone itself. */
  readonly device: number;
  /** `s.whatsapp.net`, `lid` and the like. */
  readonly server: string;
}

/** Reads an address; undefined for anything else. */
export function readJid(value: unknown): Jid | undefined {
  if (typeof value !== "string" || value.length > LONGEST) return undefined;
  // The agent after a dot, and the device after a colon, are left out if they are 0.
  const match = /^(\d{1,25})(?:\.\d{1,3})?(?::(\d{1,5}))?@([a-z][a-z.]{1,30})$/.exec(value);
  const [, user, device = "0", server] = match ?? [];
  return user === undefined || server === undefined ? undefined : { user, device: Number(device), server };
}

/** Whether two addresses may be of the same subscriber: a number and the address that hides it cannot be compared. */
export function mayBeSameUser(one: Jid, other: Jid): boolean {
  return one.server !== other.server || one.user === other.user;
}
