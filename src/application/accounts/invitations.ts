import { AccountRefusal } from "../../domain/access/account-refusal.ts";
import type { Account, Invitation, OneTimeCode } from "./account-use-cases.ts";
import type { AuditLog } from "./audit-log.ts";
import { type CodeParts, codeExpiry, MAX_INVITATIONS, makeCode } from "./one-time-codes.ts";

/**
 * Invitations, which only the administrator may use: for other accounts every method throws {@link AccountRefusal}
 * `admin_required`.
 */
export class Invitations {
  readonly #codeParts: CodeParts;
  readonly #audit: AuditLog;

  constructor(codeParts: CodeParts, audit: AuditLog) {
    this.#codeParts = codeParts;
    this.#audit = audit;
  }

  async create(account: Account): Promise<Invitation & OneTimeCode> {
    assertAdmin(account);
    const invitation = await makeCode(this.#codeParts, "invitation", account.id);
    if (!invitation)
      throw new AccountRefusal(
        "invitation_quota",
        `this server has ${MAX_INVITATIONS} open invitations; withdraw one first, or wait until one expires`,
      );
    const { id, createdAt, expiresAt, code } = invitation;
    await this.#audit.note(account, "invitation.created", id);
    return { id, createdAt, expiresAt, code };
  }

  async list(account: Account): Promise<Invitation[]> {
    assertAdmin(account);
    const { logins, system } = this.#codeParts;
    const now = system.now();
    const invitations = await logins.invitations();
    return invitations
      .map((code) => ({ id: code.id, createdAt: code.createdAt, expiresAt: codeExpiry(code, now) }))
      .filter(({ expiresAt }) => expiresAt > now);
  }

  /** @throws {AccountRefusal} `invitation_not_found` */
  async withdraw(account: Account, invitationId: string): Promise<void> {
    assertAdmin(account);
    const { logins } = this.#codeParts;
    const exists = (await logins.invitations()).some(({ id }) => id === invitationId);
    if (!exists || !(await logins.deleteInvitation(invitationId)))
      throw new AccountRefusal("invitation_not_found", `there is no invitation "${invitationId.slice(0, 64)}"`);
    await this.#audit.note(account, "invitation.withdrawn", invitationId);
  }
}

function assertAdmin({ role }: Account): void {
  if (role !== "admin") throw new AccountRefusal("admin_required", "only the administrator may do this");
}
