/** Length bytes from here on have a second one (RFC 6716 section 3.2.1). */
const TWO_BYTES_FROM = 252;

/**
 * Whether an Opus packet carries a copy of the previous one (low bit-rate redundancy, RFC 6716 section 4.2.4). The
 * library decodes a packet for its redundancy in any case, and without any it makes something up.
 */
export function carriesRedundancy(bytes: Uint8Array, at: number, length: number): boolean {
  if (length < 2 || at + length > bytes.length) return false;
  const toc = bytes[at]!;
  const configuration = toc >>> 3;
  if (configuration >= 16) return false; // CELT alone has none
  const first = firstFrame(bytes, at, at + length);
  if (first < 0) return false;
  // SILK puts its flags in front: one voice activity bit for each 20 ms, and one redundancy bit, for each channel.
  const parts = configuration < 12 ? (PARTS[configuration & 3] ?? 1) : 1;
  const flags = bytes[first]!;
  const middle = (flags >>> (7 - parts)) & 1;
  const side = (toc & 4) === 0 ? 0 : (flags >>> (6 - 2 * parts)) & 1;
  return (middle | side) === 1;
}

/** How many 20 ms a SILK frame of 10, 20, 40 and 60 ms has. */
const PARTS = [1, 1, 2, 3];

/** Offset of the packet's first frame; -1 if it is empty or missing. */
function firstFrame(bytes: Uint8Array, start: number, end: number): number {
  const code = bytes[start]! & 3;
  let at = start + 1;
  if (code === 2) {
    if (bytes[at] === 0) return -1;
    at += bytes[at]! < TWO_BYTES_FROM ? 1 : 2;
  } else if (code === 3) {
    const count = bytes[at++]!;
    if ((count & 0x40) !== 0) while (at < end && bytes[at++] === 255); // lengths of the padding
    if ((count & 0x80) !== 0) {
      if (bytes[at] === 0) return -1;
      for (let frame = 1; frame < (count & 0x3f); frame++) at += (bytes[at] ?? 0) < TWO_BYTES_FROM ? 1 : 2;
    }
  }
  return at < end ? at : -1;
}
