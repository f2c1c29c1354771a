import type { Principal } from "../domain/access/principal.ts";
import { hasScope, type TokenScope } from "../domain/access/token-scope.ts";
import { Refusal } from "../domain/refusal.ts";
import type { Authenticate } from "../ports/authenticator.ts";
import type { Logger } from "../ports/logger.ts";
import { HttpRefusal } from "./problems/problem.ts";
import type { RequestContext } from "./requests/request-context.ts";
import type { Credential, StreamTickets } from "./stream/stream-tickets.ts";

/** `Authorization: Bearer b64token` (RFC 6750 §2.1); the scheme's name ignores case (RFC 9110 §11.1). */
const BEARER = /^bearer +([A-Za-z0-9._~+/-]{1,4096}=*) *$/i;
const MISSING_TOKEN = "send your access token as a header: Authorization: Bearer <ACCESS_TOKEN>";
const MALFORMED =
  "the Authorization header must be Bearer, a space and your access token, which has only ASCII characters";
/** The only routes that accept a ticket. */
const TICKET_PATH = /^\/v1\/calls\/[\w-]+\/(?:stream|listen)$/;

/** The token of an Authorization header; undefined if it is missing or malformed. */
export function bearerToken(header: string | null): string | undefined {
  if (header === null || header.length > 8192) return undefined;
  return BEARER.exec(header)?.[1];
}

/** Dependencies of {@link identify}. */
export interface Identification {
  readonly authenticate: Authenticate;
  readonly tickets: StreamTickets;
  readonly log: Logger;
}

/**
 * Authenticates the caller and stores the principal in the context.
 * @throws {Refusal} `unauthorized`; `storage_unavailable` if the token cannot be checked
 */
export async function identify(context: RequestContext, { authenticate, tickets, log }: Identification): Promise<void> {
  if (context.principal) return;
  const credential = await credentialOf(context, tickets);
  if (typeof credential !== "string") {
    context.principal = credential;
    return;
  }
  try {
    context.principal = await authenticate(credential);
  } catch (cause) {
    log.error({ request_id: context.requestId, err: cause }, "a token could not be checked");
    throw new Refusal("storage_unavailable", "the token cannot be checked at the moment; try again", { cause });
  }
  if (!context.principal) throw new Refusal("unauthorized", "the access token is unknown, expired or revoked");
  context.token = credential;
}

async function credentialOf(context: RequestContext, tickets: StreamTickets): Promise<Credential> {
  const ticket = TICKET_PATH.test(context.path) ? context.searchParameter("ticket") : undefined;
  if (ticket === undefined) {
    const header = context.header("authorization");
    const token = bearerToken(header);
    if (token === undefined) throw new Refusal("unauthorized", header?.trim() ? MALFORMED : MISSING_TOKEN);
    return token;
  }
  const credential = await tickets.redeem(ticket, context.path);
  if (credential === undefined)
    throw new Refusal("unauthorized", "the ticket is unknown, used or expired; request a new one");
  return credential;
}

/** @throws {HttpRefusal} `insufficient_scope` (RFC 6750 §3.1) */
export function assertScope({ scopes }: Principal, scope: TokenScope): void {
  if (hasScope(scopes, scope)) return;
  throw new HttpRefusal(
    "insufficient_scope",
    `this request needs a token with the scope "${scope}"; this one has: ${scopes?.join(", ")}`,
    { headers: { "www-authenticate": `Bearer error="insufficient_scope", scope="${scope}"` } },
  );
}
