import type { Browser, NewSession, SignedIn } from "../../../src/application/accounts/account-use-cases.ts";
import type { Principal } from "../../../src/domain/access/principal.ts";
import { jsonReply, noContent } from "../../../src/http/replies/reply.ts";
import type { RequestContext } from "../../../src/http/requests/request-context.ts";
import { timestamp } from "../../../src/http/timestamp.ts";
import type { Reply } from "../../../src/ports/web.ts";
import { VERSION } from "../../../src/version.ts";
import type { AccountView, SessionState, SessionView } from "../api.ts";
import { BODIES, readBody } from "./bodies.ts";
import type { ConsoleParts } from "./console-route.ts";
import { accountRoute, type ConsoleRoute, idOf, requireAccounts } from "./console-route.ts";
import { isNetworkPage } from "./dispatch.ts";
import { serverUrl } from "./server-url.ts";

/** Time until a browser deletes its mark, ms. */
const DEVICE_MS = 365 * 24 * 60 * 60_000;

/** Routes for signing in and out. */
export function sessionRoutes(parts: ConsoleParts): ConsoleRoute[] {
  const { ringport, cookie, deviceCookie, visitors, signIn, system, log } = parts;
  const { accounts } = ringport;

  async function stateOf(
    context: RequestContext,
    identity: SignedIn | Principal | undefined,
    registration: () => Promise<SessionState["registration"]> = () => accounts.registration(),
  ): Promise<SessionState> {
    return {
      account: identity ? accountOf(identity) : null,
      registration: signIn ? "invitation" : await registration(),
      accounts: signIn === undefined,
      sign_in_url: signIn?.url ?? null,
      api_url: serverUrl(context, ringport),
      simulator: await isNetworkPage(ringport, "simulator"),
      streams: ringport.streamPreview,
      version: VERSION,
    };
  }

  /**
   * Gives the browser its new session, and ends its previous one. The new session is already stored, and a repeated
   * request would not create another one, so no later failure may suppress the cookie.
   */
  async function beginSession(context: RequestContext, newSession: Promise<NewSession>): Promise<Reply> {
    const previousSecret = cookie.read(context);
    const session = await newSession;
    context.principal = session.principal;
    const logFailure = (message: string) => (error: unknown) =>
      log.warn({ request_id: context.requestId, err: error }, message);
    if (previousSecret !== undefined)
      await accounts.signOut(previousSecret).catch(logFailure("the previous session of a browser could not be ended"));
    const state = await stateOf(context, session, async () => {
      const registration = await accounts.registration().catch(logFailure("the registration rule could not be read"));
      return registration ?? "invitation"; // shown only to people who are not signed in
    });
    const remainingMs = session.session.expiresAt - system.now();
    return jsonReply(200, state, { "set-cookie": cookie.set(context, session.secret, remainingMs) });
  }

  const browserOf = (context: RequestContext): Browser => ({
    userAgent: context.header("user-agent"),
    device: deviceCookie.read(context),
  });

  /** A route that starts a new session. */
  const sessionRoute = (path: string, make: (context: RequestContext) => Promise<NewSession>): ConsoleRoute => ({
    method: "POST",
    path,
    access: "everyone",
    cost: ["passwords"],
    async run(context) {
      requireAccounts(signIn);
      return beginSession(context, make(context));
    },
  });

  return [
    {
      method: "GET",
      path: "/session",
      access: "everyone",
      cost: "small",
      async run(context) {
        const visitor = await visitors.find(context);
        context.principal = visitor?.principal;
        const state = await stateOf(context, visitor?.signedIn ?? visitor?.principal);
        const secret = cookie.read(context);
        if (signIn || secret === undefined) return jsonReply(200, state);
        // One cookie per response: a session's first request marks the browser, later ones extend the session.
        const mark = visitor?.signedIn && (await accounts.deviceMark(visitor.signedIn, deviceCookie.read(context)));
        if (mark !== undefined)
          return jsonReply(200, state, { "set-cookie": deviceCookie.set(context, mark, DEVICE_MS) });
        // Using a session extends it; the cookie of an ended one is removed.
        const remainingMs = visitor?.signedIn && visitor.signedIn.session.expiresAt - system.now();
        const value = remainingMs === undefined ? cookie.clear(context) : cookie.set(context, secret, remainingMs);
        return jsonReply(200, state, { "set-cookie": value });
      },
    },
    sessionRoute("/register", async (context) =>
      accounts.register(await readBody(context, BODIES.registration, system), browserOf(context)),
    ),
    sessionRoute("/sign-in", async (context) =>
      accounts.signIn(await readBody(context, BODIES.login, system), browserOf(context)),
    ),
    sessionRoute("/password-reset", async (context) => {
      const { code, password } = await readBody(context, BODIES.passwordReset, system);
      return accounts.resetPassword(code, password, browserOf(context));
    }),
    accountRoute(parts, { method: "POST", path: "/password", cost: ["passwords"] }, async (context, { account }) => {
      const passwords = await readBody(context, BODIES.password, system);
      return beginSession(context, accounts.changePassword(account, passwords, browserOf(context)));
    }),
    accountRoute(
      parts,
      { method: "POST", path: "/account-deletion", cost: ["passwords"] },
      async (context, { account }) => {
        const { password } = await readBody(context, BODIES.accountDeletion, system);
        await accounts.delete(account, password);
        return noContent({ "set-cookie": cookie.clear(context) });
      },
    ),
    {
      method: "POST",
      path: "/sign-out",
      access: "everyone",
      cost: "small",
      async run(context) {
        requireAccounts(signIn);
        const secret = cookie.read(context);
        if (secret !== undefined) await accounts.signOut(secret);
        return noContent({ "set-cookie": cookie.clear(context) });
      },
    },
    accountRoute(parts, { method: "GET", path: "/sessions", cost: "small" }, async (_, { account, session }) => {
      const sessions = await accounts.sessions(account);
      const views = sessions.map(
        ({ id, createdAt, lastUsedAt, userAgent }): SessionView => ({
          id,
          current: id === session.id,
          created_at: timestamp(createdAt),
          last_used_at: timestamp(lastUsedAt),
          user_agent: userAgent,
        }),
      );
      return jsonReply(200, views);
    }),
    accountRoute(parts, { method: "DELETE", path: "/sessions/:id", cost: "small" }, async (context, { account }) => {
      await accounts.endSession(account, idOf(context));
      return noContent();
    }),
  ];
}

/** The account to show; if the embedding program manages the accounts, only the user's id is known. */
function accountOf(identity: SignedIn | Principal): AccountView {
  if (!("account" in identity))
    return { id: identity.userId, email: identity.userId, role: "member", created_at: timestamp(0) };
  const { id, email, role, createdAt } = identity.account;
  return { id, email, role, created_at: timestamp(createdAt) };
}
