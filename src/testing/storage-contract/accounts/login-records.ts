import type {
  AccountRecord,
  CodeRecord,
  NewAccount,
  RegistrationResult,
  SessionRecord,
} from "../../../ports/storage.ts";
import type { StorageScene } from "../scene.ts";

const DAY_MS = 24 * 60 * 60_000;

/** A registration; it needs a code only if one is passed. */
export function newAccount(
  scene: StorageScene,
  email: string,
  {
    role = "member",
    ...otherFields
  }: { role?: AccountRecord["role"] } & Partial<Pick<NewAccount, "code" | "takesOver">> = {},
): NewAccount {
  const id = scene.id("acct");
  return {
    account: { id, email, passwordHash: `hash of ${id}`, role, createdAt: scene.now() },
    session: loginSession(scene, id),
    user: { id: scene.id("usr"), name: email, createdAt: scene.now() },
    code: undefined,
    ...otherFields,
  };
}

/** A session that is valid for a day. */
export function loginSession(
  scene: StorageScene,
  accountId: string,
  patch: Partial<SessionRecord> = {},
): SessionRecord {
  const id = scene.id("ses");
  const createdAt = scene.now();
  return {
    id,
    accountId,
    hash: id.padEnd(64, "0"),
    createdAt,
    lastUsedAt: createdAt,
    expiresAt: createdAt + DAY_MS,
    userAgent: null,
    ...patch,
  };
}

/** A code that is valid for a day. */
export function codeRecord(
  scene: StorageScene,
  purpose: CodeRecord["purpose"],
  patch: Partial<CodeRecord> = {},
): CodeRecord {
  const id = scene.id("code");
  const createdAt = scene.now();
  const hash = id.padEnd(64, "0");
  return { id, purpose, hash, accountId: null, createdAt, expiresAt: createdAt + DAY_MS, ...patch };
}

/** A code that was stored. */
export async function storedCode(
  scene: StorageScene,
  purpose: CodeRecord["purpose"],
  patch: Partial<CodeRecord> = {},
): Promise<CodeRecord> {
  const code = codeRecord(scene, purpose, patch);
  scene.equal(await scene.storage.logins.insertCode(code, 100), true);
  return code;
}

/** An account that was stored, with one session. */
export async function storedAccount(scene: StorageScene, email = "ana@example.com"): Promise<AccountRecord> {
  return accountIn(await scene.storage.logins.register(newAccount(scene, email)));
}

/** The account that a registration has stored. */
export function accountIn(result: RegistrationResult): AccountRecord {
  if (result.kind !== "registered") throw new Error(`the account was not stored: ${result.kind}`);
  return result.account;
}
