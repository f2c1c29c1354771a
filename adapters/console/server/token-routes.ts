import { jsonReply, noContent } from "../../../src/http/replies/reply.ts";
import { maybeTimestamp, timestamp } from "../../../src/http/timestamp.ts";
import type { TokenRecord } from "../../../src/ports/storage.ts";
import type { NewTokenView, TokenView } from "../api.ts";
import { BODIES, readBody } from "./bodies.ts";
import { accountRoute, idOf, type RoutesOf } from "./console-route.ts";

/** Routes for the account's tokens for the HTTP API. */
export const tokenRoutes: RoutesOf = (parts) => {
  const { system } = parts;
  const { accounts } = parts.ringport;
  return [
    accountRoute(parts, { method: "GET", path: "/tokens", cost: "small" }, async (_, { account }) =>
      jsonReply(200, (await accounts.tokens(account)).map(tokenView)),
    ),
    accountRoute(parts, { method: "POST", path: "/tokens", cost: "small" }, async (context, { account }) => {
      const body = await readBody(context, BODIES.token, system);
      const newToken = await accounts.createToken(account, {
        label: body.label,
        scopes: body.scopes,
        expiresAt: body.expires_at,
        demoInstanceId: body.demo_instance_id,
      });
      return jsonReply(201, { ...tokenView(newToken), token: newToken.token } satisfies NewTokenView);
    }),
    accountRoute(parts, { method: "DELETE", path: "/tokens/:id", cost: "small" }, async (context, { account }) => {
      await accounts.revokeToken(account, idOf(context));
      return noContent();
    }),
  ];
};

function tokenView(token: TokenRecord): TokenView {
  return {
    id: token.id,
    label: token.label,
    scopes: token.scopes,
    demo_instance_id: token.demoInstanceId,
    created_at: timestamp(token.createdAt),
    expires_at: maybeTimestamp(token.expiresAt),
    last_used_at: maybeTimestamp(token.lastUsedAt),
  };
}
