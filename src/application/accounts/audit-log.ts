import type { Storage } from "../../ports/storage.ts";
import type { Context } from "../context.ts";
import type { Account, AuditEntry } from "./account-use-cases.ts";

/** Retention time of entries, ms. */
const RETENTION_MS = 365 * 24 * 60 * 60_000;
/** Maximum number of entries of one account; a further entry deletes the oldest. */
export const MAX_ENTRIES = 10_000;
const PAGE_SIZE = 100;

/** Dependencies of {@link AuditLog}. */
export interface AuditParts extends Pick<Context, "system" | "ids" | "log" | "purgeClock"> {
  readonly storage: Pick<Storage, "logins">;
}

/** Log of people's security-relevant actions. */
export class AuditLog {
  readonly #parts: AuditParts;

  constructor(parts: AuditParts) {
    this.#parts = parts;
  }

  /** Adds an entry for an action that has already happened, so a storage failure is only reported to the operator. */
  async note(
    { id: accountId, email }: Pick<Account, "id" | "email">,
    action: string,
    subject: string | null,
  ): Promise<void> {
    const { storage, system, ids, log, purgeClock } = this.#parts;
    const entry = { id: ids("aud"), at: system.now(), accountId, email, action, subject };
    await storage.logins.note(entry, purgeClock.now() - RETENTION_MS, MAX_ENTRIES).catch((error: unknown) => {
      log.error(
        { account_id: accountId, action, subject, err: error },
        "an entry of the audit log could not be stored",
      );
    });
  }

  /** The entries, newest first: all of them for an administrator, only their own for other people. */
  async list({ id, role }: Account, { after }: { readonly after?: string | undefined }): Promise<AuditEntry[]> {
    if (after !== undefined && !/^aud_\w{26}$/.test(after)) return [];
    const accountId = role === "admin" ? undefined : id;
    return this.#parts.storage.logins.audit({ accountId }, { limit: PAGE_SIZE, after });
  }
}
