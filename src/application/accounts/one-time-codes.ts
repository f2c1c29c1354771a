import type { IdSource } from "../../base/ids.ts";
import type { Sha256 } from "../../base/sha256.ts";
import { emailOf } from "../../domain/access/email.ts";
import type { AccountRecord, CodePurpose, CodeRecord, LoginStore } from "../../ports/storage.ts";
import type { System } from "../../ports/system.ts";
import { MAX_AHEAD_MS, storedTime } from "../stored-times.ts";
import type { OneTimeCode } from "./account-use-cases.ts";
import { MAX_ENTRIES } from "./audit-log.ts";
import { makeSecret } from "./secrets.ts";

const HOUR_MS = 3_600_000;
/** Validity of a code, ms. */
const VALIDITY_MS: Readonly<Record<CodePurpose, number>> = {
  first: 24 * HOUR_MS,
  invitation: MAX_AHEAD_MS["account_codes.expires_at"],
  reset: 24 * HOUR_MS,
};

/** Maximum number of invitations that have neither been used nor expired. */
export const MAX_INVITATIONS = 100;

/** Time at which a stored code expires under the current rule, ms since 1970-01-01 UTC. */
export function codeExpiry({ purpose, expiresAt }: Pick<CodeRecord, "purpose" | "expiresAt">, now: number): number {
  return storedTime("account_codes.expires_at", expiresAt, now, VALIDITY_MS[purpose]);
}

/** Dependencies for creating a code; the command line has them while a server is running. */
export interface CodeParts {
  readonly logins: LoginStore;
  readonly system: System;
  readonly ids: IdSource;
  readonly sha256: Sha256;
}

/** A new first-start code; undefined once there is an administrator. */
export async function firstCode(parts: CodeParts): Promise<OneTimeCode | undefined> {
  return makeCode(parts, "first", null);
}

/** A code for setting a new password, and its account; undefined if no account has this address. */
export async function resetCode(
  parts: CodeParts,
  email: string,
): Promise<(OneTimeCode & { readonly account: AccountRecord }) | undefined> {
  const address = emailOf(email);
  const account = address === undefined ? undefined : await parts.logins.accountByEmail(address);
  const oneTimeCode = account && (await makeCode(parts, "reset", account.id));
  if (!oneTimeCode) return undefined;
  const { ids, system, logins } = parts;
  const entry = { id: ids("aud"), at: system.now(), accountId: null, email: null };
  await logins.note({ ...entry, action: "account.reset_code_made", subject: account.id }, 0, MAX_ENTRIES);
  return { ...oneTimeCode, account };
}

/** Makes and stores a code; returns undefined if the storage refuses it. */
export async function makeCode(
  { logins, system, ids, sha256 }: CodeParts,
  purpose: CodePurpose,
  accountId: string | null,
): Promise<(OneTimeCode & Omit<CodeRecord, "hash">) | undefined> {
  const { secret, hash } = await makeSecret(system, sha256);
  const now = system.now();
  const code = { id: ids("code"), purpose, accountId, createdAt: now, expiresAt: now + VALIDITY_MS[purpose] };
  return (await logins.insertCode({ ...code, hash }, MAX_INVITATIONS)) ? { ...code, code: secret } : undefined;
}
