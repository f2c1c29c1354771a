import type { EventPage } from "../application/use-cases.ts";
import { encodeCursor } from "../domain/cursor.ts";
import type { Page } from "../ports/storage.ts";
import type { Reply } from "../ports/web.ts";
import { json, PRIVATE } from "./reply.ts";
import type { RequestContext } from "./request-context.ts";
import { eventView } from "./views.ts";

/** Most items of a whole list in memory at the same time. */
const READ_AT_ONCE = 16;

/**
 * The reply with one page of a list, with a Link (RFC 8288) to the next page if there is one.
 * @param limit items of the page; undefined: all items, in pieces
 * @param read reads the list; `page` requests one item more than the page has, to find out whether there is another page
 */
export async function page<T extends { readonly id: string }>(
  context: RequestContext,
  limit: number | undefined,
  after: string | undefined,
  read: (page: Page) => Promise<readonly T[]>,
  view: (item: T) => unknown,
): Promise<Reply> {
  if (limit === undefined) return wholeList(after, read, view);
  const found = await read({ limit: limit + 1, after });
  const items = found.slice(0, limit);
  const last = items.at(-1);
  const headers =
    found.length > items.length && last ? { ...PRIVATE, link: nextLink(context, encodeCursor(last.id)) } : PRIVATE;
  return json(200, items.map(view), headers);
}

/** The reply with a whole list, read a few items at a time, so that a long list is never in memory as a whole. */
async function wholeList<T extends { readonly id: string }>(
  after: string | undefined,
  read: (page: Page) => Promise<readonly T[]>,
  view: (item: T) => unknown,
): Promise<Reply> {
  const first = await read({ limit: READ_AT_ONCE, after });
  if (first.length < READ_AT_ONCE) return json(200, first.map(view), PRIVATE);
  return { status: 200, headers: { "content-type": "application/json", ...PRIVATE }, body: listed(first, read, view) };
}

async function* listed<T extends { readonly id: string }>(
  first: readonly T[],
  read: (page: Page) => Promise<readonly T[]>,
  view: (item: T) => unknown,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let items = first;
  for (let before = "["; items.length > 0; before = ",") {
    const after = items.at(-1)?.id;
    const isLast = items.length < READ_AT_ONCE;
    const text = before + items.map((item) => JSON.stringify(view(item))).join();
    items = []; // only the text is kept while a slow client reads
    yield encoder.encode(text);
    if (!isLast) items = await read({ limit: READ_AT_ONCE, after });
  }
  yield encoder.encode("]");
}

/** The reply with one page of a log. Every page names the cursor to continue from, the last one too: later there may be more. */
export function logPage(context: RequestContext, { events, cursor, more }: EventPage): Reply {
  const headers = { ...PRIVATE, "next-cursor": cursor };
  return json(200, events.map(eventView), more ? { ...headers, link: nextLink(context, cursor) } : headers);
}

function nextLink(context: RequestContext, cursor: string): string {
  const query = new URLSearchParams(context.search);
  query.set("cursor", cursor);
  return `<${context.base}${context.path}?${query}>; rel="next"`;
}
