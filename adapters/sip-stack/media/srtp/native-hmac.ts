import { createHmac } from "node:crypto";
import type { Hmac } from "./hmac.ts";

/** The native library's HMAC-SHA1: an object of its own for every packet. */
export function nativeHmac(key: Uint8Array): Hmac {
  return { digest: (bytes, length) => createHmac("sha1", key).update(bytes.subarray(0, length)).digest() };
}
