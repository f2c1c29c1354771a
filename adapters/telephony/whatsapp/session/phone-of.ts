/** The number in a WhatsApp address, `5511987654321:12@s.whatsapp.net`, as E.164; null if it has none. */
export function phoneOf(jid: unknown): string | null {
  if (typeof jid !== "string") return null;
  const digits = /^(\d{7,15})(?:[.:]\d{1,5}){0,2}@(?:s\.whatsapp\.net|c\.us|hosted)$/.exec(jid)?.[1];
  return digits === undefined || digits.startsWith("0") ? null : `+${digits}`;
}

/** Text for the log: phone numbers keep their last two digits, and text that looks like a key is removed. */
export function masked(text: string): string {
  return text
    .replace(/[A-Za-z0-9+/_-]{24,}={0,2}/g, "…")
    .replace(/\d{6,}/g, (digits) => `…${digits.slice(-2)}`)
    .slice(0, 500);
}
