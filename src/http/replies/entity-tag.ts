import { hex32 } from "../../base/hex.ts";

/** A strong entity tag (RFC 9110 §8.8.3): a fast 64-bit hash of two FNV-1a lanes, one of them rotating. */
export function entityTag(body: string): string {
  let a = 0x811c9dc5;
  let b = 0xdeadbeef ^ body.length;
  for (let i = 0; i < body.length; i++) {
    const code = body.charCodeAt(i);
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul(((b << 5) | (b >>> 27)) ^ code, 0x9e3779b1);
  }
  return `"${hex32(a)}${hex32(b ^ (b >>> 15))}"`;
}

/** True if an If-None-Match header names the tag; weak comparison (RFC 9110 §13.1.2). */
export function matches(header: string, etag: string): boolean {
  if (header.trim() === "*") return true;
  return header.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
}
