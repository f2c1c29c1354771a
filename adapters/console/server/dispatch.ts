import { isInPieces } from "../../../src/http/replies/reply.ts";
import { OWN_SEGMENTS } from "../../../src/http/requests/own-paths.ts";
import type { RequestContext } from "../../../src/http/requests/request-context.ts";
import type { Reply, RequestLike, SocketHandlers } from "../../../src/ports/web.ts";
import type { Ringport } from "../../../src/ringport.ts";
import { auditedAct } from "./audited-acts.ts";
import type { ConsoleParts } from "./console-route.ts";
import { assertSameOrigin } from "./same-origin.ts";
import { withSecurityHeaders } from "./security-headers.ts";
import { SessionGuard } from "./session-guard.ts";
import type { Visitor } from "./visitors.ts";

/** Header fields that identify the HTTP API's client; the console has already identified it. */
const IDENTITY_HEADERS: ReadonlySet<string> = new Set(["authorization", "cookie"]);
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

const TICKET_PATH = /^\/v1\/calls\/[^/]+\/stream-ticket$/;

/** Sent in place of a ticket: under the console's path, the session authorizes the WebSocket. */
const SESSION = "session";

/** Passes requests under `/console` on to the Ringport, on behalf of the signed-in user. */
export interface Dispatch {
  /** True if the path after `/console` belongs to the HTTP API, or to a network's pages. */
  accepts(path: string): Promise<boolean>;
  /** @throws {ConsoleRefusal} `cross_site`, `unauthorized` */
  handle(context: RequestContext, path: string): Promise<Reply>;
  /** Handles a WebSocket request; throws as `handle` does. */
  upgrade(context: RequestContext, path: string): Promise<Reply | SocketHandlers>;
}

export function dispatch(parts: ConsoleParts): Dispatch {
  const { ringport, visitors, log, system } = parts;

  async function requireVisitor(context: RequestContext): Promise<Visitor> {
    assertSameOrigin(context, ringport.publicUrl);
    const visitor = await visitors.require(context);
    context.principal = visitor.principal;
    return visitor;
  }

  const sessionGuard = (visitor: Visitor): SessionGuard => new SessionGuard(() => visitor.isStillSignedIn(), system);

  /** Records an act in the audit log. A failure is only logged, because the act has already been carried out. */
  async function recordAct(context: RequestContext, { signedIn }: Visitor, path: string, reply: Reply): Promise<void> {
    const act = auditedAct(context, path, reply);
    if (!act || !signedIn) return;
    await ringport.accounts
      .note(signedIn.account, act.action, act.subject)
      .catch((error: unknown) =>
        log.error(
          { request_id: context.requestId, action: act.action, err: error },
          "the action could not be recorded in the audit log",
        ),
      );
  }

  return {
    async accepts(path) {
      const segment = path.split("/", 2)[1] ?? "";
      if (segment === "v1") return true;
      return !OWN_SEGMENTS.has(segment) && isNetworkPage(ringport, segment);
    },
    async handle(context, path) {
      const visitor = await requireVisitor(context);
      const request = requestTo(context, path, ringport.basePath);
      const reply = sessionTicket(path, await ringport.handle(request, visitor.principal));
      await recordAct(context, visitor, path, reply);
      if (!isInPieces(reply.body)) return withSecurityHeaders(reply);
      return withSecurityHeaders({ ...reply, body: sessionGuard(visitor).body(reply.body) });
    },
    async upgrade(context, path) {
      const visitor = await requireVisitor(context);
      const decision = await ringport.upgrade(requestTo(context, path, ringport.basePath), visitor.principal);
      return "status" in decision ? withSecurityHeaders(decision) : sessionGuard(visitor).socket(decision);
    },
  };
}

/** True if a network has pages with this prefix. */
export function isNetworkPage(
  { basePath, claims }: Pick<Ringport, "basePath" | "claims">,
  prefix: string,
): Promise<boolean> {
  return prefix === "" ? Promise.resolve(false) : claims({ url: `http://ringport${basePath}/${prefix}/` });
}

/**
 * The request as passed to the Ringport: with the path after `/console`, and without the fields that identify its
 * client.
 */
function requestTo({ request, requestId, search }: RequestContext, path: string, base: string): RequestLike {
  const [origin = "http://localhost"] = ORIGIN.exec(request.url) ?? [];
  return {
    method: request.method,
    url: `${origin}${base}${path}${search}`,
    headers: {
      get(name) {
        const lowerName = name.toLowerCase();
        if (IDENTITY_HEADERS.has(lowerName)) return null;
        return lowerName === "x-request-id" ? requestId : request.headers.get(name);
      },
    },
    get body() {
      return request.body;
    },
    get signal() {
      return request.signal;
    },
    buffersMessages: request.buffersMessages,
  };
}

/**
 * Removes the ticket from a response: it would open a WebSocket at `/v1` that outlives the session. Clients continue
 * with the WebSocket under the console's path, which needs the session.
 * @param path path in the HTTP API
 */
function sessionTicket(path: string, reply: Reply): Reply {
  if (reply.status !== 201 || !TICKET_PATH.test(path)) return reply;
  const ticket = JSON.parse(String(reply.body)) as { readonly url: string };
  const url = ticket.url.replace(/(\/v1\/calls\/[^/?]+\/\w+)\?ticket=.*$/s, `/console$1?ticket=${SESSION}`);
  return { ...reply, body: JSON.stringify({ ...ticket, ticket: SESSION, url }) };
}
