import type { EventPage } from "../application/use-cases.ts";
import { encodeCursor } from "../domain/cursor.ts";
import type { Page } from "../ports/storage.ts";
import type { Reply } from "../ports/web.ts";
import type { Exchange } from "./exchange.ts";
import { json, PRIVATE } from "./reply.ts";
import { eventView } from "./views.ts";

/**
 * Answers one page of a list, with a Link (RFC 8288) to the next one where there is one.
 * @param limit items of the page; undefined: all
 * @param read reads the list; it is asked for one item more than the page has, to know whether there is another page
 */
export async function page<T extends { readonly id: string }>(
  exchange: Exchange,
  limit: number | undefined,
  after: string | undefined,
  read: (page: Page) => Promise<readonly T[]>,
  view: (item: T) => unknown,
): Promise<Reply> {
  const found = await read({ limit: limit === undefined ? undefined : limit + 1, after });
  const items = limit === undefined ? found : found.slice(0, limit);
  const last = items.at(-1);
  const headers =
    found.length > items.length && last ? { ...PRIVATE, link: nextLink(exchange, encodeCursor(last.id)) } : PRIVATE;
  return json(200, items.map(view), headers);
}

/** Answers one page of a log. The last page too names the cursor to go on from: later there may be more. */
export function logPage(exchange: Exchange, { events, cursor, more }: EventPage): Reply {
  const headers = { ...PRIVATE, "next-cursor": cursor };
  return json(200, events.map(eventView), more ? { ...headers, link: nextLink(exchange, cursor) } : headers);
}

function nextLink(exchange: Exchange, cursor: string): string {
  const query = new URLSearchParams(exchange.search);
  query.set("cursor", cursor);
  return `<${exchange.base}${exchange.path}?${query}>; rel="next"`;
}
