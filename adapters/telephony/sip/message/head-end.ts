/**
 * Where the body begins: behind the first empty line; -1 where there is none yet. Lines end with CRLF or a bare LF; the
 * empty lines before a message are to be skipped first, or found to be its end. To go on when more has come, start two
 * bytes before what is new.
 */
export function headEnd(bytes: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(LF, from); at >= 0; at = bytes.indexOf(LF, at + 1)) {
    if (bytes[at + 1] === LF) return at + 2;
    if (bytes[at + 1] === CR && bytes[at + 2] === LF) return at + 3;
  }
  return -1;
}

/** Where the first byte is that is neither CR nor LF. */
export function skipEmptyLines(bytes: Uint8Array, from: number): number {
  let at = from;
  while (bytes[at] === CR || bytes[at] === LF) at++;
  return at;
}

const CR = 0x0d;
const LF = 0x0a;
