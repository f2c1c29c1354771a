import type { Challenge } from "./challenge.ts";
import { DIGEST_ALGORITHMS, type DigestAlgorithm, digestAlgorithm } from "./digest-algorithm.ts";

/** What a server asks for, as far as we can give it. */
export interface DigestChallenge {
  readonly realm: string;
  readonly nonce: string;
  readonly opaque: string | undefined;
  readonly algorithm: DigestAlgorithm;
  /** As the server wrote the algorithm; undefined where it named none. */
  readonly algorithmText: string | undefined;
  /** Whether requests are counted and salted: `qop=auth`. Otherwise as in RFC 2069. */
  readonly counted: boolean;
  /** Whether the server merely wants a newer nonce: what was sent was right. */
  readonly stale: boolean;
}

/** The challenge as one that we can answer, or what it asks for that we cannot do. */
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

/** The better one: of the stronger algorithm, and of two alike the first. */
export function strongerChallenge(one: DigestChallenge | undefined, other: DigestChallenge): DigestChallenge {
  const rank = ({ algorithm }: DigestChallenge): number => DIGEST_ALGORITHMS.indexOf(algorithm);
  return one === undefined || rank(other) < rank(one) ? other : one;
}

/** What a peer wrote, fit for a sentence. */
export function shown(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
