import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";
import { availableParallelism } from "node:os";
import { HasherBusy, type HashTurn, type PasswordHasher } from "../../src/ports/password-hasher.ts";

/** Cost of a hash (RFC 7914); it takes 128 · 2^ln · r bytes of memory. */
export interface ScryptCost {
  readonly ln: number;
  readonly r: number;
  readonly p: number;
}

/** According to OWASP's Password Storage Cheat Sheet: 128 MiB for each hash. */
const COST: ScryptCost = { ln: 17, r: 8, p: 1 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/**
 * Maximum number of concurrent hashes: each one takes its memory and a processor; one processor is left for live audio.
 */
const AT_ONCE = Math.min(2, Math.max(1, availableParallelism() - 1));
/** Maximum number of waiting requests of each kind: up to ten seconds of work. */
const MAX_WAITING = 32;

const PHC = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{16,86})\$([A-Za-z0-9+/]{22,86})$/;
/** Maximum memory for verifying a hash, bytes. */
const MAX_MEMORY = 2 ** 30;

interface StoredHash extends ScryptCost {
  readonly salt: Buffer;
  readonly hash: Buffer;
}

/**
 * The runtime's scrypt, in its own threads. A hash is a PHC string: `$scrypt$ln=17,r=8,p=1$salt$hash`.
 * @param cost cost of new hashes; tests use a smaller one
 */
export function scryptHasher(cost: ScryptCost = COST, atOnce: number = AT_ONCE): PasswordHasher {
  const turns = boundedTurns(atOnce, MAX_WAITING);

  const derive = (
    password: string,
    salt: Buffer,
    { ln, r, p }: ScryptCost,
    bytes: number,
    turn: HashTurn | undefined,
  ): Promise<Buffer> =>
    turns(
      turn,
      () =>
        new Promise((resolve, reject) => {
          const N = 2 ** ln;
          const options: ScryptOptions = { N, r, p, maxmem: 256 * N * r };
          scrypt(password, salt, bytes, options, (error, key) => (error ? reject(error) : resolve(key)));
        }),
    );

  return {
    async hash(password, turn) {
      const salt = randomBytes(SALT_BYTES);
      const { ln, r, p } = cost;
      const hash = await derive(password, salt, cost, HASH_BYTES, turn);
      return `$scrypt$ln=${ln},r=${r},p=${p}$${unpaddedBase64(salt)}$${unpaddedBase64(hash)}`;
    },
    async verify(password, storedHash, turn) {
      const parts = storedHash === undefined ? undefined : parseHash(storedHash);
      const { salt, hash, ...storedCost } = parts ?? { ...cost, salt: NO_SALT, hash: NO_HASH };
      const key = await derive(password, salt, storedCost, hash.length, turn);
      return timingSafeEqual(key, hash) && parts !== undefined;
    },
    isOutdated(storedHash) {
      const parts = parseHash(storedHash);
      return parts === undefined || parts.ln !== cost.ln || parts.r !== cost.r || parts.p !== cost.p;
    },
  };
}

const NO_SALT = Buffer.alloc(SALT_BYTES);
const NO_HASH = Buffer.alloc(HASH_BYTES);

/** Parses a stored hash; returns undefined if it is not an scrypt hash. */
function parseHash(storedHash: string): StoredHash | undefined {
  const [, ln, r, p, salt = "", hash = ""] = PHC.exec(storedHash) ?? [];
  const cost = { ln: Number(ln), r: Number(r), p: Number(p) };
  if (!isUsable(cost)) return undefined;
  return { ...cost, salt: Buffer.from(salt, "base64"), hash: Buffer.from(hash, "base64") };
}

/** True if 2^ln is less than 2^(16 r), as RFC 7914 §2 requires. */
function isUsable({ ln, r, p }: ScryptCost): boolean {
  return ln >= 1 && r >= 1 && p >= 1 && ln < 16 * r && 128 * 2 ** ln * r <= MAX_MEMORY;
}

/** Base64 without padding, as in PHC strings. */
function unpaddedBase64(bytes: Buffer): string {
  return bytes.toString("base64").replaceAll("=", "");
}

/**
 * Runs queued work, known users before unknown ones.
 * @throws {HasherBusy} `maxWaiting` of a kind are already waiting
 */
function boundedTurns(
  atOnce: number,
  maxWaiting: number,
): <T>(turn: HashTurn | undefined, work: () => Promise<T>) => Promise<T> {
  let runningCount = 0;
  const knownUsers: (() => void)[] = [];
  const unknownUsers: (() => void)[] = [];
  return async (kind, work) => {
    if (runningCount >= atOnce) {
      const queue = kind === "known" ? knownUsers : unknownUsers;
      if (queue.length >= maxWaiting)
        throw new HasherBusy(`${maxWaiting} passwords wait to be hashed; try again in a moment`);
      await new Promise<void>((turn) => queue.push(turn)); // the slot is handed over
    } else runningCount++;
    try {
      return await work();
    } finally {
      const next = knownUsers.shift() ?? unknownUsers.shift();
      if (next) next();
      else runningCount--;
    }
  };
}
