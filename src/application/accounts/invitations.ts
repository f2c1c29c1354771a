import { AccountRefusal } from "../../domain/access/account-refusal.ts";
import type { Account, Invitation, OneTimeCode } from "./account-use-cases.ts";
import type { AuditLog } from "./audit-log.ts";
import { type CodeMakers, codeExpiry, MAX_INVITATIONS, makeCode } from "./one-time-codes.ts";

/** Invitations, which are the administrator's. Every method throws {@link AccountRefusal} `admin_required`. */
export class Invitations {
  readonly #makers: CodeMakers;
  readonly #audit: AuditLog;

  constructor(makers: CodeMakers, audit: AuditLog) {
    this.#makers = makers;
    this.#audit = audit;
  }

  async create(account: Account): Promise<Invitation & OneTimeCode> {
    assertAdmin(account);
    const made = await makeCode(this.#makers, "invitation", account.id);
    if (!made)
      throw new AccountRefusal(
        "invitation_quota",
        `this server has ${MAX_INVITATIONS} open invitations; withdraw one first, or wait until one expires`,
      );
    const { id, createdAt, expiresAt, code } = made;
    await this.#audit.note(account, "invitation.created", id);
    return { id, createdAt, expiresAt, code };
  }

  async list(account: Account): Promise<Invitation[]> {
    assertAdmin(account);
    const { logins, system } = this.#makers;
    const now = system.now();
    const invitations = await logins.invitations();
    return invitations
      .map((code) => ({ id: code.id, createdAt: code.createdAt, expiresAt: codeExpiry(code, now) }))
      .filter(({ expiresAt }) => expiresAt > now);
  }

  /** @throws {AccountRefusal} `invitation_not_found` */
  async withdraw(account: Account, invitationId: string): Promise<void> {
    assertAdmin(account);
    const { logins } = this.#makers;
    const exists = (await logins.invitations()).some(({ id }) => id === invitationId);
    if (!exists || !(await logins.deleteInvitation(invitationId)))
      throw new AccountRefusal("invitation_not_found", `there is no invitation "${invitationId.slice(0, 64)}"`);
    await this.#audit.note(account, "invitation.withdrawn", invitationId);
  }
}

function assertAdmin({ role }: Account): void {
  if (role !== "admin") throw new AccountRefusal("admin_required", "only the administrator may do this");
}
