const HEADER_BYTES = 8;
const DATA_SECTION = 11;
/** A segment at an address that one constant gives, in the first memory. */
const ACTIVE = 0;
const I32_CONST = 0x41;

/**
 * Bytes at the beginning of a module's memory that its program never writes: its read-only data, which `wasm-ld` places
 * first, in a segment of its own. 0 if the data section looks otherwise (WebAssembly Core Specification, section 5.5.14).
 */
export function constantBytes(module: Uint8Array): number {
  let at = HEADER_BYTES;
  // Unsigned LEB128, as sizes are; addresses are signed, which is the same below 2^31 up to the last byte's sign.
  const number = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = module[at++] ?? 0;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < module.length) {
    const section = module[at++];
    const size = number();
    if (section !== DATA_SECTION) {
      at += size;
      continue;
    }
    const count = number();
    if (count < 2 || number() !== ACTIVE || module[at++] !== I32_CONST) return 0;
    const start = number();
    at++;
    return start + number();
  }
  return 0;
}
