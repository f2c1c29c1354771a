import { toHex } from "./hex.ts";

/** SHA-256 of the text's UTF-8 bytes, lower-case hex. */
export type Sha256 = (text: string) => string | Promise<string>;

/** Uses WebCrypto, which every runtime has; for a short text, the call takes far longer than the hash itself. */
export const sha256Hex: Sha256 = (text) => sha256OfBytes(new TextEncoder().encode(text));

/** SHA-256 of bytes, lower-case hex. */
export async function sha256OfBytes(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return toHex(new Uint8Array(digest));
}
