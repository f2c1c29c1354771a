/** Prefixes of our TypeIDs. */
export type IdPrefix =
  | "inst"
  | "call"
  | "evt"
  | "tok"
  | "usr"
  | "node"
  | "hook"
  | "dlv"
  | "acct"
  | "ses"
  | "code"
  | "aud"
  | "audio"
  | "batch";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/** Makes ids that sort by time, even within one millisecond and after the clock is set back. */
export interface IdSource {
  (prefix: IdPrefix): string;
  /** Makes all further ids sort after this one. Only valid ids from before the year 10000 have an effect. */
  startAfter(id: string): void;
}

/** Time above which ids are corrupt and leave no room after them, ms: 10000-01-01. */
const MAX_ID_MS = 253_402_300_800_000;

const ID_BYTES = 16;
/** Number of ids for which random bytes are requested together: a request takes longer than the rest of an id. */
const IDS_PER_REQUEST = 64;

/**
 * Ids in TypeID form: prefix, `_`, 26 characters of base32 over a UUIDv7 (RFC 9562 §5.7, counter in `rand_a`).
 * @param now ms since 1970-01-01 UTC
 * @param random fills an array with random bytes
 */
export function idSource(now: () => number, random: (bytes: Uint8Array) => void): IdSource {
  let lastMs = 0;
  let counter = 0;
  const bytes = new Uint8Array(ID_BYTES);
  const randomBytes = new Uint8Array(IDS_PER_REQUEST * ID_BYTES);
  let usedBytes = randomBytes.length;
  function next(prefix: IdPrefix): string {
    const ms = now();
    if (usedBytes === randomBytes.length) {
      random(randomBytes);
      usedBytes = 0;
    }
    for (let i = 0; i < ID_BYTES; i++) bytes[i] = randomBytes[usedBytes + i]!;
    usedBytes += ID_BYTES;
    if (ms > lastMs) {
      lastMs = ms;
      counter = ((bytes[6]! << 8) | bytes[7]!) & 0x7ff; // the upper half stays free for counting
    } else if (++counter > 0xfff) {
      lastMs++; // more than 2,048 ids in a millisecond borrow from the next millisecond
      counter = 0;
    }
    for (let i = 0; i < 6; i++) bytes[i] = Math.floor(lastMs / 2 ** (8 * (5 - i))) & 0xff;
    bytes[6] = 0x70 | (counter >> 8);
    bytes[7] = counter & 0xff;
    bytes[8] = 0x80 | (bytes[8]! & 0x3f);
    return `${prefix}_${base32(bytes)}`;
  }

  next.startAfter = (id: string): void => {
    const ms = idTime(id);
    if (ms === undefined || ms < lastMs || ms >= MAX_ID_MS) return;
    // After every id of that millisecond.
    lastMs = ms;
    counter = 0xfff;
  };
  return next;
}

/** Time at which an id was made, according to its maker's clock, ms since 1970-01-01 UTC; undefined if invalid. */
export function idTime(id: string): number | undefined {
  if (!ID_TAIL.test(id)) return undefined;
  let ms = 0;
  for (const char of id.slice(-26, -16)) ms = ms * 32 + ALPHABET.indexOf(char);
  return ms;
}

/** True if `text` has the form of an id with this prefix. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.length === prefix.length + 27 && text.startsWith(`${prefix}_`) && ID_TAIL.test(text);
}
const ID_TAIL = /_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

function base32(bytes: Uint8Array): string {
  let out = "";
  let value = 0;
  let bits = 2; // 128 bits in 26 × 5: the first character carries only three
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      out += ALPHABET[(value >> bits) & 31];
    }
    value &= (1 << bits) - 1;
  }
  return out;
}
