import { createCipheriv } from "node:crypto";
import type { SrtpSuite } from "../engine.ts";

/** Lengths of a crypto suite's keys and tags (RFC 4568 section 6.2, RFC 6188 section 2), in bytes. */
interface SuiteSizes {
  readonly key: number;
  readonly salt: number;
  /** Length of the tag after an RTP packet; after an RTCP packet it is always ten. */
  readonly rtpTag: number;
}

/** The supported suites, in order of preference. */
export const SUITES: Readonly<Record<SrtpSuite, SuiteSizes>> = {
  AES_CM_128_HMAC_SHA1_80: { key: 16, salt: 14, rtpTag: 10 },
  AES_CM_128_HMAC_SHA1_32: { key: 16, salt: 14, rtpTag: 4 },
  AES_256_CM_HMAC_SHA1_80: { key: 32, salt: 14, rtpTag: 10 },
  AES_256_CM_HMAC_SHA1_32: { key: 32, salt: 14, rtpTag: 4 },
};

/** Length of the tag after an RTCP packet in every suite, bytes. */
export const RTCP_TAG = 10;

/** Keys derived from a master key, for RTP or RTCP (RFC 3711 section 4.3). */
interface SessionKeys {
  /** The same length as the master key. */
  readonly cipher: Uint8Array;
  /** 20 bytes. */
  readonly auth: Uint8Array;
  /** 14 bytes. */
  readonly salt: Uint8Array;
}

/** First label of the derived keys: 0 to 2 are for RTP, 3 to 5 for RTCP. */
const FIRST_LABEL = { rtp: 0, rtcp: 3 } as const;
const AUTH_BYTES = 20;
const SALT_BYTES = 14;

/**
 * Derives session keys with AES in counter mode, once for all packets (a key derivation rate of 0).
 * @throws {RangeError} the key is not 16 or 32 bytes long, or the salt not 14
 */
export function deriveSessionKeys(
  master: { key: Uint8Array; salt: Uint8Array },
  protocol: "rtp" | "rtcp",
): SessionKeys {
  const { key, salt } = master;
  if (key.length !== 16 && key.length !== 32)
    throw new RangeError(`an SRTP master key has 16 or 32 bytes, not ${key.length}`);
  if (salt.length !== SALT_BYTES) throw new RangeError(`an SRTP master salt has 14 bytes, not ${salt.length}`);
  const label = FIRST_LABEL[protocol];
  return {
    cipher: derive(key, salt, label, key.length),
    auth: derive(key, salt, label + 1, AUTH_BYTES),
    salt: derive(key, salt, label + 2, SALT_BYTES),
  };
}

function derive(key: Uint8Array, salt: Uint8Array, label: number, length: number): Uint8Array {
  const start = new Uint8Array(16);
  start.set(salt);
  start[7] = (start[7] ?? 0) ^ label;
  const cipher = createCipheriv(key.length === 16 ? "aes-128-ctr" : "aes-256-ctr", key, start);
  // Copied, because a cipher may return a slice of a shared pool.
  return Uint8Array.from(cipher.update(new Uint8Array(length)));
}
