import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

/** Up to this length WebCrypto costs ten times what the hash itself does, because it hands the text to another thread. */
const SHORT = 4096;

/** SHA-256 of the text's UTF-8 bytes, lower-case hex. A long text is hashed beside the event loop. */
export async function sha256Hex(text: string): Promise<string> {
  const bytes = utf8ToBytes(text) as Uint8Array<ArrayBuffer>;
  if (bytes.length <= SHORT) return bytesToHex(sha256(bytes));
  return bytesToHex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}
