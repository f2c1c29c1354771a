import { createHash } from "node:crypto";

/** A hash function that digests are made with, by the name that RFC 8760 gives it. */
export interface DigestAlgorithm {
  /** As in the registry: `SHA-256-sess`. */
  readonly name: string;
  /** Of its hash: 0 is the strongest. */
  readonly rank: number;
  /** Whether the secret is derived anew for each nonce. */
  readonly session: boolean;
  /** The hash of a text in UTF-8, as lower-case hex digits. */
  hash(text: string): string;
}

/** The hash functions that we know, the strongest first, with their names in OpenSSL. */
const HASHES = [
  ["SHA-512-256", "sha512-256"],
  ["SHA-256", "sha256"],
  ["MD5", "md5"],
] as const;

/** All that we can answer with, the strongest first. A runtime whose policy forbids MD5 does not have it. */
export const DIGEST_ALGORITHMS: readonly DigestAlgorithm[] = HASHES.filter(([, hash]) => isAvailable(hash)).flatMap(
  ([name, openssl], rank) => {
    const hash = (text: string): string => createHash(openssl).update(text, "utf8").digest("hex");
    return [
      { name: `${name}-sess`, rank, session: true, hash },
      { name, rank, session: false, hash },
    ];
  },
);

/** The algorithm of this name, in any case; MD5 where none is named (RFC 7616 section 3.3). */
export function digestAlgorithm(name: string | undefined): DigestAlgorithm | undefined {
  const wanted = (name ?? "MD5").toLowerCase();
  return DIGEST_ALGORITHMS.find((algorithm) => algorithm.name.toLowerCase() === wanted);
}

function isAvailable(openssl: string): boolean {
  try {
    createHash(openssl);
    return true;
  } catch {
    return false;
  }
}
