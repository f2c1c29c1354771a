import { shown } from "../ports.ts";
import type { Challenge } from "./challenge.ts";
import { DIGEST_ALGORITHMS, type DigestAlgorithm, digestAlgorithm } from "./digest-algorithm.ts";

/** A digest challenge that we can answer (RFC 7616 section 3.3). */
export interface DigestChallenge {
  readonly realm: string;
  readonly nonce: string;
  readonly opaque: string | undefined;
  readonly algorithm: DigestAlgorithm;
  /** The algorithm as the server wrote it; undefined if it named none. */
  readonly algorithmText: string | undefined;
  /** Whether the response includes a nonce count and a cnonce: `qop=auth`. Otherwise as in RFC 2069. */
  readonly counted: boolean;
  /** Whether only the nonce was outdated, and the password right. */
  readonly stale: boolean;
}

/** The challenge in detail, or the name of its unsupported part. */
export function digestChallenge({ scheme, params }: Challenge): DigestChallenge | string {
  if (scheme !== "digest") return `the authentication scheme ${shown(scheme)}`;
  const nonce = params.get("nonce");
  if (nonce === undefined) return "a digest without a nonce";
  const algorithmText = params.get("algorithm");
  const algorithm = digestAlgorithm(algorithmText);
  if (algorithm === undefined) return `the digest algorithm ${shown(algorithmText ?? "MD5")}`;
  const qop = params.get("qop");
  const counted =
    qop
      ?.toLowerCase()
      .split(/[\s,]+/)
      .includes("auth") === true;
  if (qop !== undefined && qop.trim() !== "" && !counted) return `the quality of protection ${shown(qop)}`;
  return {
    realm: params.get("realm") ?? "",
    nonce,
    opaque: params.get("opaque"),
    algorithm,
    algorithmText,
    counted,
    stale: params.get("stale")?.toLowerCase() === "true",
  };
}

/** The challenge with the stronger algorithm, or the first of two with the same. */
export function strongerChallenge(one: DigestChallenge | undefined, other: DigestChallenge): DigestChallenge {
  const rank = ({ algorithm }: DigestChallenge): number => DIGEST_ALGORITHMS.indexOf(algorithm);
  return one === undefined || rank(other) < rank(one) ? other : one;
}
