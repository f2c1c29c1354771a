/**
 * The offset of the body: after the first empty line (RFC 3261 section 7); -1 without one. Lines end with CRLF or a bare
 * LF. Skip the empty lines before a message first. To continue with more bytes, start two bytes before the new ones.
 */
export function headEnd(bytes: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(LF, from); at >= 0; at = bytes.indexOf(LF, at + 1)) {
    if (bytes[at + 1] === LF) return at + 2;
    if (bytes[at + 1] === CR && bytes[at + 2] === LF) return at + 3;
  }
  return -1;
}

/** The offset of the first byte other than CR and LF (RFC 3261 section 7.5). */
export function skipEmptyLines(bytes: Uint8Array, from: number): number {
  let at = from;
  while (bytes[at] === CR || bytes[at] === LF) at++;
  return at;
}

const CR = 0x0d;
const LF = 0x0a;
