import type { SrtpSuite } from "../engine.ts";

/** Lengths of a crypto suite's keys and tags (RFC 4568 section 6.2, RFC 6188 section 2), in bytes. */
export interface SuiteSizes {
  readonly key: number;
  readonly salt: number;
  /** Length of the tag behind an RTP packet; behind an RTCP packet it is always ten. */
  readonly rtpTag: number;
}

/** The suites that we know, the one to be preferred first. */
export const SUITES: Readonly<Record<SrtpSuite, SuiteSizes>> = {
  AES_CM_128_HMAC_SHA1_80: { key: 16, salt: 14, rtpTag: 10 },
  AES_CM_128_HMAC_SHA1_32: { key: 16, salt: 14, rtpTag: 4 },
  AES_256_CM_HMAC_SHA1_80: { key: 32, salt: 14, rtpTag: 10 },
  AES_256_CM_HMAC_SHA1_32: { key: 32, salt: 14, rtpTag: 4 },
};

/** Length of the tag behind an RTCP packet in every suite, bytes. */
export const RTCP_TAG = 10;
