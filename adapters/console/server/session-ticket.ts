import type { Reply } from "../../../src/ports/web.ts";

const TICKETS = /^\/v1\/calls\/[^/]+\/stream-ticket$/;

/** In place of a ticket: it opens nothing at `/v1`, and below the console the session opens the WebSocket. */
const SESSION = "session";

/**
 * The reply with a stream ticket, without the ticket: that would open a WebSocket at `/v1` which outlives the session.
 * Clients go on to the WebSocket below the console, which needs the session.
 * @param path of the HTTP interface
 */
export function sessionTicket(path: string, reply: Reply): Reply {
  if (reply.status !== 201 || !TICKETS.test(path)) return reply;
  const issued = JSON.parse(String(reply.body)) as { readonly url: string };
  const url = issued.url.replace(/(\/v1\/calls\/[^/?]+\/\w+)\?ticket=.*$/s, `/console$1?ticket=${SESSION}`);
  return { ...reply, body: JSON.stringify({ ...issued, ticket: SESSION, url }) };
}
