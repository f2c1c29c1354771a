import type { IdSource } from "../../base/ids.ts";
import { type Sha256, sha256Hex } from "../../base/sha256.ts";
import { within } from "../../base/timers.ts";
import { AccountRefusal } from "../../domain/access/account-refusal.ts";
import type { Principal } from "../../domain/access/principal.ts";
import { checkedScopes, type TokenScope } from "../../domain/access/token-scope.ts";
import { type CallLimits, checkedCallLimits, limitsWithin } from "../../domain/calls/call-limits.ts";
import { isVisible } from "../../domain/input/visible-text.ts";
import type { Authenticate } from "../../ports/authenticator.ts";
import { type AccountStore, StorageUnavailable, type TokenRecord } from "../../ports/storage.ts";
import type { System } from "../../ports/system.ts";
import { RecentTokens } from "./recent-tokens.ts";
import { TokenUses } from "./token-uses.ts";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SECRET_CHARACTERS = 43; // 32 bytes
const CHECK_CHARACTERS = 6;
/** Maximum wait for the storage before a recently valid token is accepted without it, ms. */
const SILENCE_MS = 1_000;
const TOKEN = new RegExp(`^rp_(live|demo)_[0-9A-Za-z]{${SECRET_CHARACTERS + CHECK_CHARACTERS}}$`);

/** Default number of calls that a demo token may create within 24 hours. */
const DEMO_CALLS_PER_DAY = 50;

/** Maximum number of unrevoked tokens of one account; as many revoked tokens are kept. */
const MAX_TOKENS = 100;

/** The name of the user who gets the first token, and whom the first account takes over. */
export const FIRST_USER = "admin";

/** Options of a new token. */
export interface NewToken extends CallLimits {
  readonly userName: string;
  /** Label chosen by the user. */
  readonly label: string;
  /** Makes a demo token, which may use only this one instance. */
  readonly demoInstanceId?: string | undefined;
  /** Permissions of the token. Default: everything that its issuer may do. */
  readonly scopes?: readonly TokenScope[] | undefined;
  /**
   * The user who creates it, if not the operator: the token never allows more than this user has, and inherits their
   * limits if it has none.
   */
  readonly issuer?: Pick<Principal, keyof CallLimits | "scopes"> | undefined;
  /** ms since 1970-01-01 UTC. */
  readonly expiresAt?: number | undefined;
}

/** A token that an account makes for its user. */
export interface TokenOfAccount extends Omit<NewToken, "userName"> {
  readonly userId: string;
  readonly accountId: string;
}

/** A new token, readable only once; only its hash is stored. */
export interface IssuedToken extends TokenRecord {
  readonly token: string;
}

/**
 * Makes a token for the user of an account, or for a user known by name, who is created if new. A demo token has a
 * limit of 50 calls a day unless another limit is set.
 * @throws {RangeError} a name is invisible, or a call limit or scope is malformed, or allows more than the issuer has;
 *   no token was stored
 * @throws {AccountRefusal} `token_quota`, or `token_invalid`: the account is deleted
 */
export async function issueToken(
  accounts: AccountStore,
  system: System,
  ids: IdSource,
  options: NewToken | TokenOfAccount,
): Promise<IssuedToken> {
  const { label, demoInstanceId, expiresAt } = options;
  assertVisible("label", label);
  if ("userName" in options) assertVisible("userName", options.userName);
  const { allowedPrefixes, maxCallsPerDay } = limitsOf(options);
  const scopes = checkedScopes(options.scopes, options.issuer?.scopes);
  const { id: userId } =
    "userId" in options
      ? { id: options.userId }
      : await accounts.ensureUser({ id: ids("usr"), name: options.userName, createdAt: system.now() });
  const token = newToken(demoInstanceId === undefined ? "live" : "demo", system);
  const record: TokenRecord = {
    id: ids("tok"),
    userId,
    label,
    hash: await sha256Hex(token),
    demoInstanceId: demoInstanceId ?? null,
    allowedPrefixes: allowedPrefixes ?? null,
    maxCallsPerDay: maxCallsPerDay ?? null,
    scopes: scopes ?? null,
    createdAt: system.now(),
    expiresAt: expiresAt ?? null,
    revokedAt: null,
    lastUsedAt: null,
  };
  const account = "accountId" in options ? { id: options.accountId, most: MAX_TOKENS } : undefined;
  const insertion = await accounts.insertToken(record, account);
  if (insertion === "at_limit")
    throw new AccountRefusal("token_quota", `you have ${MAX_TOKENS} tokens; revoke one first`);
  if (insertion === "account_deleted")
    throw new AccountRefusal("token_invalid", "the account is deleted and cannot create tokens");
  return { ...record, token };
}

/** @throws {RangeError} the name has no visible character */
function assertVisible(option: string, name: string): void {
  if (!isVisible(name)) throw new RangeError(`${option} is ${JSON.stringify(name)}: it must have a visible character`);
}

function limitsOf(options: Omit<NewToken, "userName">): CallLimits {
  const issuer = checkedCallLimits(options.issuer ?? {});
  const limits = limitsWithin(checkedCallLimits(options), issuer);
  if (options.demoInstanceId === undefined || options.maxCallsPerDay !== undefined) return limits;
  return { ...limits, maxCallsPerDay: Math.min(DEMO_CALLS_PER_DAY, limits.maxCallsPerDay ?? Infinity) };
}

/** Makes the first token of the server; returns undefined if any token exists. */
export async function issueFirstToken(
  accounts: AccountStore,
  system: System,
  ids: IdSource,
  token: NewToken,
): Promise<IssuedToken | undefined> {
  return (await accounts.tokens()).length === 0 ? issueToken(accounts, system, ids, token) : undefined;
}

/**
 * Authenticates by stored tokens: a checksum first, then one look-up by hash. If the storage fails or does not respond
 * within a second, a recently valid token is accepted. The use of a token is recorded once a minute.
 * @param sha256 a faster hash than WebCrypto's, if the runtime has one: every request needs it
 */
export function tokenAuthenticator(
  accounts: AccountStore,
  system: System,
  sha256: Sha256 = sha256Hex,
  recentTokens: RecentTokens = new RecentTokens(system),
): Authenticate {
  const uses = new TokenUses(accounts, system);

  async function readToken(hash: string): Promise<TokenRecord | undefined> {
    const record = await accounts.tokenByHash(hash);
    const validToken = record && sameText(record.hash, hash) && record.revokedAt === null ? record : undefined;
    recentTokens.recordLookUp(hash, validToken);
    return validToken;
  }

  async function storedOrRecentToken(hash: string): Promise<TokenRecord | undefined> {
    const recentToken = recentTokens.find(hash);
    if (!recentToken) return readToken(hash);
    const timeoutError = () => new StorageUnavailable(`the token could not be read within ${SILENCE_MS} ms`);
    return within(readToken(hash), { system, ms: SILENCE_MS, timeoutError }).catch((error: unknown) => {
      if (error instanceof StorageUnavailable) return recentToken;
      throw error;
    });
  }

  function principalOf(record: TokenRecord | undefined): Principal | undefined {
    if (!record || (record.expiresAt !== null && record.expiresAt <= system.now())) return undefined;
    uses.recordUse(record);
    const { userId, id, demoInstanceId, allowedPrefixes, maxCallsPerDay, scopes } = record;
    return {
      userId,
      tokenId: id,
      ...(demoInstanceId === null ? {} : { demoInstanceId }),
      ...(allowedPrefixes === null ? {} : { allowedPrefixes }),
      ...(maxCallsPerDay === null ? {} : { maxCallsPerDay }),
      ...(scopes === null ? {} : { scopes }),
    };
  }

  const authenticate = async (token: string): Promise<Principal | undefined> =>
    isWellFormed(token) ? principalOf(await storedOrRecentToken(await sha256(token))) : undefined;
  const all = async (tokens: readonly string[]): Promise<(Principal | undefined)[]> => {
    const hashes = await Promise.all(tokens.map((token) => sha256(token)));
    const validTokens = (await accounts.tokensByHash(hashes)).filter(({ revokedAt }) => revokedAt === null);
    const byHash = new Map(validTokens.map((token) => [token.hash, token]));
    return hashes.map((hash) => principalOf(byHash.get(hash)));
  };
  return Object.assign(authenticate, { all });
}

function newToken(kind: "live" | "demo", system: System): string {
  const body = `rp_${kind}_${newSecret(system)}`;
  return body + checksum(body);
}

/** 32 random bytes as 43 characters of base62. */
export function newSecret(system: System): string {
  const bytes = new Uint8Array(32);
  system.random(bytes);
  return base62(
    bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n),
    SECRET_CHARACTERS,
  );
}

function isWellFormed(token: string): boolean {
  return TOKEN.test(token) && token.endsWith(checksum(token.slice(0, -CHECK_CHARACTERS)));
}

/** Compares in time that is independent of the position of the first difference. */
function sameText(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);
  return difference === 0;
}

/** FNV-1a, 32 bit: catches typos before the database is queried. */
function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
  let out = "";
  for (let remaining = hash; out.length < CHECK_CHARACTERS; remaining = Math.floor(remaining / 62))
    out = BASE62[remaining % 62] + out;
  return out;
}

function base62(value: bigint, width: number): string {
  let out = "";
  for (let remaining = value; out.length < width; remaining /= 62n) out = BASE62[Number(remaining % 62n)] + out;
  return out;
}
