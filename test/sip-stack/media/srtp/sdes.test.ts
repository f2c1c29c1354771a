import { Buffer } from "node:buffer";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { SrtpSuite } from "../../../../adapters/sip-stack/media/engine.ts";
import { newSrtpKeys, parseCrypto, writeCrypto } from "../../../../adapters/sip-stack/media/srtp/sdes.ts";
import { SUITES } from "../../../../adapters/sip-stack/media/srtp/session-keys.ts";
import { fuzz } from "../../../support/fuzz.ts";
import { processorMs } from "../../../support/processor-time.ts";
import { hex } from "./support.ts";

/** The line of RFC 4568 section 9.1's example: 30 bytes in base64. */
const INLINE = "WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz";

test("a line has tag, suite, key and salt", () => {
  const line = parseCrypto(`1 AES_CM_128_HMAC_SHA1_80 inline:${INLINE}`);
  expect(line?.tag).toBe(1);
  expect(line?.keys.suite).toBe("AES_CM_128_HMAC_SHA1_80");
  expect(line?.keys.key).toHaveLength(16);
  expect(line?.keys.salt).toHaveLength(14);
  expect(Buffer.concat([line!.keys.key, line!.keys.salt]).toString("base64")).toBe(INLINE);
  expect(line?.keys.mki).toBeUndefined();
});

test.each([
  ["a lifetime", `${INLINE}|2^20`, undefined],
  ["a lifetime in digits", `${INLINE}|1048576`, undefined],
  ["a lifetime and a master key identifier", `${INLINE}|2^20|1:4`, "00000001"],
  ["a master key identifier alone", `${INLINE}|258:2`, "0102"],
  [
    "two keys, the first of which counts",
    `${INLINE}|2^20|1:4;inline:QUJjZGVmMTIzNDU2Nzg5QUJDREUwMTIzNDU2Nzg5|2^20|2:4`,
    "00000001",
  ],
  ["parameters without effect", `${INLINE} WSH=60 -KDR=24`, undefined],
])("a line with %s is read", (_, inline, mki) => {
  const { keys } = parseCrypto(`10 aes_cm_128_hmac_sha1_32 inline:${inline}`) ?? {};
  expect(keys?.suite).toBe("AES_CM_128_HMAC_SHA1_32");
  expect(keys?.mki && hex(keys.mki)).toBe(mki);
});

test.each([
  ["an unknown suite", `1 AEAD_AES_128_GCM inline:${INLINE}`],
  ["an inherited property for a suite", `1 constructor inline:${INLINE}`],
  ["a key that is too short", `1 AES_CM_128_HMAC_SHA1_80 inline:${INLINE.slice(4)}`],
  ["a key of the other length", `1 AES_256_CM_HMAC_SHA1_80 inline:${INLINE}`],
  ["a key method that is not inline", `1 AES_CM_128_HMAC_SHA1_80 uri:${INLINE}`],
  ["no tag", `AES_CM_128_HMAC_SHA1_80 inline:${INLINE}`],
  ["a master key identifier that does not fit", `1 AES_CM_128_HMAC_SHA1_80 inline:${INLINE}|256:1`],
  ["a master key identifier of 200 bytes", `1 AES_CM_128_HMAC_SHA1_80 inline:${INLINE}|1:200`],
  ["a request for unencrypted packets", `1 AES_CM_128_HMAC_SHA1_80 inline:${INLINE} UNENCRYPTED_SRTP`],
  ["a key derivation rate", `1 AES_CM_128_HMAC_SHA1_80 inline:${INLINE} KDR=10`],
  ["nothing", ""],
])("a line with %s is rejected", (_, line) => {
  expect(parseCrypto(line)).toBeUndefined();
});

test.each(Object.keys(SUITES) as SrtpSuite[])("written keys for %s are read back", (suite) => {
  const keys = newSrtpKeys(suite, (array) => crypto.getRandomValues(array));
  expect(parseCrypto(writeCrypto({ tag: 3, keys }))).toEqual({ tag: 3, keys });
  const keysWithMki = { ...keys, mki: Uint8Array.of(1, 2, 3) };
  expect(parseCrypto(writeCrypto({ tag: 4, keys: keysWithMki }))).toEqual({ tag: 4, keys: keysWithMki });
});

test("new keys have the suite's length, and are never the same", () => {
  const random = (array: Uint8Array) => void crypto.getRandomValues(array);
  const [a, b] = [newSrtpKeys("AES_256_CM_HMAC_SHA1_80", random), newSrtpKeys("AES_256_CM_HMAC_SHA1_80", random)];
  expect([a.key.length, a.salt.length]).toEqual([32, 14]);
  expect(hex(a.key)).not.toBe(hex(b.key));
  expect(hex(a.salt)).not.toBe(hex(b.salt));
});

const part = fc.oneof(
  fc.string(),
  fc.constantFrom(
    "1",
    " ",
    "\t",
    "|",
    ";",
    ":",
    "inline:",
    "AES_CM_128_HMAC_SHA1_80",
    INLINE,
    "2^31",
    "1:4",
    "=",
    "WSH=1",
  ),
);

fuzz(
  "parsing any line never throws or returns a key of the wrong length",
  fc.property(fc.array(part, { maxLength: 60 }), (parts) => {
    const line = parseCrypto(parts.join(""));
    if (line === undefined) return;
    const { key, salt } = SUITES[line.keys.suite];
    if (line.keys.key.length !== key || line.keys.salt.length !== salt) throw new Error("a wrong length");
  }),
);

test("a line of a million characters is skipped at once", () => {
  const startMs = processorMs();
  for (const piece of [" ", "\t1", "1 AES_CM_128_HMAC_SHA1_80 inline:", "|2^1", ";inline:a"])
    expect(parseCrypto(piece.repeat(1_000_000 / piece.length))).toBeUndefined();
  expect(processorMs() - startMs).toBeLessThan(500);
});
