import { createHash } from "node:crypto";
import { readQuotedString, skipLws } from "../message/grammar.ts";
import { shown } from "../ports.ts";

/** Reason why a challenge (RFC 3261 section 22.1) is not answered with our password. */
export interface ChallengeRefusal {
  readonly code: ChallengeRefusalCode;
  /** A sentence without a full stop. */
  readonly detail: string;
}

export type ChallengeRefusalCode =
  /** The server does not accept the user with this password. */
  | "wrong_password"
  /** No password is configured. */
  | "no_password"
  /** The password is for other realms. */
  | "other_realm"
  /** The realm has used a stronger algorithm before. */
  | "weaker_algorithm"
  /** The challenge is not from one of the trunk's servers. */
  | "other_server"
  /** The scheme or the algorithm is not supported. */
  | "unsupported"
  /** The response has no challenge, or repeatedly reports stale nonces. */
  | "unusable_challenge";

/** A server's challenge (RFC 3261 section 20.44, RFC 7616 section 3.3). */
interface Challenge {
  /** Lower case: `digest`, `basic` … */
  readonly scheme: string;
  /** Names in lower case, values without quotes. */
  readonly params: ReadonlyMap<string, string>;
}

/** The challenges in the value of a WWW-Authenticate or Proxy-Authenticate field; malformed ones are skipped. */
export function parseChallenges(text: string): Challenge[] {
  const challenges: Challenge[] = [];
  let params: Map<string, string> | undefined;
  let at = skipSeparators(text, 0);
  while (at < text.length) {
    const end = wordEnd(text, at);
    const word = text.slice(at, end);
    const next = skipLws(text, end);
    if (word === "") {
      at = skipSeparators(text, at + 1);
    } else if (text[next] !== "=" || text[next + 1] === "=") {
      params = new Map();
      challenges.push({ scheme: word.toLowerCase(), params });
      at = skipSeparators(text, next);
    } else {
      const valueAt = skipLws(text, next + 1);
      const quotedString = readQuotedString(text, valueAt);
      const valueEnd = quotedString?.end ?? wordEnd(text, valueAt);
      const name = word.toLowerCase();
      if (params?.has(name) === false) params.set(name, quotedString?.value ?? text.slice(valueAt, valueEnd));
      at = skipSeparators(text, valueEnd);
    }
  }
  return challenges;
}

/** The index after spaces and commas. */
function skipSeparators(text: string, from: number): number {
  let at = from;
  while (at < text.length && " \t,".includes(text.charAt(at))) at++;
  return at;
}

function wordEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length && !' \t,="'.includes(text.charAt(at))) at++;
  return at;
}

/** A digest algorithm (RFC 7616, RFC 8760). */
export interface DigestAlgorithm {
  /** The registered name: `SHA-256-sess`. */
  readonly name: string;
  /** The rank of its hash: 0 is the strongest. */
  readonly rank: number;
  /** True if the secret depends on the nonce: the `-sess` variants. */
  readonly session: boolean;
  /** The hash of the text's UTF-8 bytes, as lower-case hex digits. */
  hash(text: string): string;
}

/** The supported hash functions, strongest first, with their OpenSSL names. */
const HASHES = [
  ["SHA-512-256", "sha512-256"],
  ["SHA-256", "sha256"],
  ["MD5", "md5"],
] as const;

/** The supported algorithms, strongest first; without MD5 if the runtime's policy forbids it. */
const DIGEST_ALGORITHMS: readonly DigestAlgorithm[] = HASHES.filter(([, hash]) => isAvailable(hash)).flatMap(
  ([name, openssl], rank) => {
    const hash = (text: string): string => createHash(openssl).update(text, "utf8").digest("hex");
    return [
      { name: `${name}-sess`, rank, session: true, hash },
      { name, rank, session: false, hash },
    ];
  },
);

/** The algorithm with this name, which is case-insensitive. Default: MD5 (RFC 7616 section 3.3). */
function digestAlgorithm(name: string | undefined): DigestAlgorithm | undefined {
  const lowerName = (name ?? "MD5").toLowerCase();
  return DIGEST_ALGORITHMS.find((algorithm) => algorithm.name.toLowerCase() === lowerName);
}

function isAvailable(openssl: string): boolean {
  try {
    createHash(openssl);
    return true;
  } catch {
    return false;
  }
}

/** A digest challenge that we can answer (RFC 7616 section 3.3). */
export interface DigestChallenge {
  readonly realm: string;
  readonly nonce: string;
  readonly opaque: string | undefined;
  readonly algorithm: DigestAlgorithm;
  /** The algorithm as the server wrote it; undefined if it named none. */
  readonly algorithmText: string | undefined;
  /** True if the response includes a nonce count and a cnonce: `qop=auth`. Otherwise as in RFC 2069. */
  readonly hasNonceCount: boolean;
  /** True if only the nonce was outdated, and the password was right. */
  readonly stale: boolean;
}

/** Parses a digest challenge; returns the name of an unsupported part instead. */
export function digestChallenge({ scheme, params }: Challenge): DigestChallenge | string {
  if (scheme !== "digest") return `the authentication scheme ${shown(scheme)}`;
  const nonce = params.get("nonce");
  if (nonce === undefined) return "a digest without a nonce";
  const algorithmText = params.get("algorithm");
  const algorithm = digestAlgorithm(algorithmText);
  if (algorithm === undefined) return `the digest algorithm ${shown(algorithmText ?? "MD5")}`;
  const qop = params.get("qop");
  const hasNonceCount =
    qop
      ?.toLowerCase()
      .split(/[\s,]+/)
      .includes("auth") === true;
  if (qop !== undefined && qop.trim() !== "" && !hasNonceCount) return `the quality of protection ${shown(qop)}`;
  return {
    realm: params.get("realm") ?? "",
    nonce,
    opaque: params.get("opaque"),
    algorithm,
    algorithmText,
    hasNonceCount,
    stale: params.get("stale")?.toLowerCase() === "true",
  };
}

/** The challenge with the stronger algorithm; the first one if both have the same. */
export function strongerChallenge(current: DigestChallenge | undefined, candidate: DigestChallenge): DigestChallenge {
  const rank = ({ algorithm }: DigestChallenge): number => DIGEST_ALGORITHMS.indexOf(algorithm);
  return current === undefined || rank(candidate) < rank(current) ? candidate : current;
}
