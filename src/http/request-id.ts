import { hex32 } from "../base/hex.ts";
import type { System } from "../ports/system.ts";

/** Ids made from one read of random bytes, which costs more than the rest of a short request. */
const AT_ONCE = 256;

/** Request ids with the prefix `req_` and 64 random bits. */
export function requestIds(system: System): () => string {
  const bytes = new Uint8Array(AT_ONCE * 8);
  const view = new DataView(bytes.buffer);
  let at = bytes.length;
  return () => {
    if (at === bytes.length) {
      system.random(bytes);
      at = 0;
    }
    const id = `req_${hex32(view.getUint32(at))}${hex32(view.getUint32(at + 4))}`;
    at += 8;
    return id;
  };
}

/** The client's own id, if it is 1 to 128 visible ASCII characters. */
export function givenRequestId(header: string | null): string | undefined {
  return header !== null && /^[!-~]{1,128}$/.test(header) ? header : undefined;
}
