import { createHash } from "node:crypto";

/** A digest algorithm (RFC 7616, RFC 8760). */
export interface DigestAlgorithm {
  /** As in the registry: `SHA-256-sess`. */
  readonly name: string;
  /** The rank of its hash: 0 is the strongest. */
  readonly rank: number;
  /** Whether the secret depends on the nonce: the `-sess` variants. */
  readonly session: boolean;
  /** The hash of a text in UTF-8, as lower-case hex digits. */
  hash(text: string): string;
}

/** The supported hash functions, the strongest first, with their names in OpenSSL. */
const HASHES = [
  ["SHA-512-256", "sha512-256"],
  ["SHA-256", "sha256"],
  ["MD5", "md5"],
] as const;

/** The supported algorithms, the strongest first; without MD5 if the policy of the runtime forbids it. */
export const DIGEST_ALGORITHMS: readonly DigestAlgorithm[] = HASHES.filter(([, hash]) => isAvailable(hash)).flatMap(
  ([name, openssl], rank) => {
    const hash = (text: string): string => createHash(openssl).update(text, "utf8").digest("hex");
    return [
      { name: `${name}-sess`, rank, session: true, hash },
      { name, rank, session: false, hash },
    ];
  },
);

/** The algorithm of this case-insensitive name. Default: MD5 (RFC 7616 section 3.3). */
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
