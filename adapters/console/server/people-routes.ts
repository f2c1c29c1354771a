import type { AuditEntry, Invitation } from "../../../src/application/accounts/account-use-cases.ts";
import { jsonReply, noContent } from "../../../src/http/replies/reply.ts";
import { readQuery, textParameter } from "../../../src/http/requests/query-parameter.ts";
import { timestamp } from "../../../src/http/timestamp.ts";
import type { AuditEntryView, InvitationView, NewInvitationView } from "../api.ts";
import { accountRoute, idOf, type RoutesOf } from "./console-route.ts";
import { serverUrl } from "./server-url.ts";

const auditQuery = { after: textParameter("after", "The id of the last entry of the previous page.") };

/** Routes for invitations and the audit log. */
export const peopleRoutes: RoutesOf = (parts) => {
  const { ringport } = parts;
  const { accounts } = ringport;
  return [
    accountRoute(parts, { method: "GET", path: "/invitations", cost: "small" }, async (_, { account }) =>
      jsonReply(200, (await accounts.invitations(account)).map(invitationView)),
    ),
    accountRoute(parts, { method: "POST", path: "/invitations", cost: "small" }, async (context, { account }) => {
      const invitation = await accounts.invite(account);
      // Browsers do not send the fragment, so no server or proxy receives the code.
      const url = `${serverUrl(context, ringport)}/console/register#code=${encodeURIComponent(invitation.code)}`;
      return jsonReply(201, { ...invitationView(invitation), url } satisfies NewInvitationView);
    }),
    accountRoute(parts, { method: "DELETE", path: "/invitations/:id", cost: "small" }, async (context, { account }) => {
      await accounts.withdrawInvitation(account, idOf(context));
      return noContent();
    }),
    accountRoute(parts, { method: "GET", path: "/audit", cost: "small" }, async (context, { account }) =>
      jsonReply(200, (await accounts.audit(account, readQuery(context.search, auditQuery))).map(entryView)),
    ),
  ];
};

const invitationView = ({ id, createdAt, expiresAt }: Invitation): InvitationView => ({
  id,
  created_at: timestamp(createdAt),
  expires_at: timestamp(expiresAt),
});

const entryView = ({ id, at, email, action, subject }: AuditEntry): AuditEntryView => ({
  id,
  at: timestamp(at),
  email,
  action,
  subject,
});
