import type { EventPage } from "../../application/use-cases.ts";
import { encodeCursor } from "../../domain/cursor.ts";
import type { Page } from "../../ports/storage.ts";
import type { Reply } from "../../ports/web.ts";
import type { RequestContext } from "../requests/request-context.ts";
import { eventView } from "../views/event-view.ts";
import { jsonReply, PRIVATE } from "./reply.ts";

/** Maximum number of items of a whole list in memory at a time. */
const READ_AT_ONCE = 16;
/** Maximum number of items of a page that are read at once. */
const PAGE_READ = 50;
/**
 * Size of a page, characters of JSON: the item that reaches it is the page's last, and the cursor leads to the rest.
 */
export const MAX_PAGE_CHARACTERS: number = 1 << 20;

/**
 * The reply with one page of a list, with a Link (RFC 8288) to the next page if there is one.
 * @param limit number of items on the page, which has fewer if they are large; undefined for all items, in pieces
 * @param read reads the list; `page` requests one item more than the page has, to find out whether there is another
 *   page
 */
export async function page<T extends { readonly id: string }>(
  context: RequestContext,
  limit: number | undefined,
  after: string | undefined,
  read: (page: Page) => Promise<readonly T[]>,
  view: (item: T) => unknown,
): Promise<Reply> {
  if (limit === undefined) return wholeList(after, read, view);
  const pieces = new JsonPieces();
  let lastId = after;
  for (let remaining = limit; ; remaining -= PAGE_READ) {
    const batch = Math.min(remaining, PAGE_READ);
    const rows = await read({ limit: batch + 1, after: lastId });
    const part = pieces.addAll(rows.slice(0, batch), view);
    lastId = part.at(-1)?.id ?? lastId;
    const hasMore = rows.length > part.length;
    if (hasMore && remaining > batch && !pieces.isFull) continue;
    const headers = hasMore && lastId ? { ...PRIVATE, link: nextLink(context, encodeCursor(lastId)) } : PRIVATE;
    return listReply(pieces, headers);
  }
}

/** The items of a JSON array, up to the size of a page. */
class JsonPieces {
  readonly #texts: string[] = [];
  #characterCount = 0;

  get isFull(): boolean {
    return this.#characterCount >= MAX_PAGE_CHARACTERS;
  }

  /** Adds items until the page is full, and returns the added items. */
  addAll<T>(items: readonly T[], view: (item: T) => unknown): readonly T[] {
    let count = 0;
    while (count < items.length && !this.isFull) {
      const text = JSON.stringify(view(items[count++]!));
      this.#texts.push(text);
      this.#characterCount += text.length;
    }
    return items.slice(0, count);
  }

  toString(): string {
    return `[${this.#texts.join()}]`;
  }
}

function listReply(pieces: JsonPieces, headers: Readonly<Record<string, string>>): Reply {
  return { status: 200, headers: { "content-type": "application/json", ...headers }, body: pieces.toString() };
}

/** The reply with a whole list, read a few items at a time, so that a long list is never in memory as a whole. */
async function wholeList<T extends { readonly id: string }>(
  after: string | undefined,
  read: (page: Page) => Promise<readonly T[]>,
  view: (item: T) => unknown,
): Promise<Reply> {
  const first = await read({ limit: READ_AT_ONCE, after });
  if (first.length < READ_AT_ONCE) return jsonReply(200, first.map(view), PRIVATE);
  return {
    status: 200,
    headers: { "content-type": "application/json", ...PRIVATE },
    body: listPieces(first, read, view),
  };
}

async function* listPieces<T extends { readonly id: string }>(
  first: readonly T[],
  read: (page: Page) => Promise<readonly T[]>,
  view: (item: T) => unknown,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let items = first;
  for (let separator = "["; items.length > 0; separator = ",") {
    const after = items.at(-1)?.id;
    const isLast = items.length < READ_AT_ONCE;
    const text = separator + items.map((item) => JSON.stringify(view(item))).join();
    items = []; // only the text is kept while a slow client reads
    yield encoder.encode(text);
    if (!isLast) items = await read({ limit: READ_AT_ONCE, after });
  }
  yield encoder.encode("]");
}

/**
 * The reply with one page of a log. Every page names the cursor to continue from, even the last one: more may follow
 * later.
 */
export function logPage(context: RequestContext, page: EventPage): Reply {
  const { events, cursors } = page;
  const pieces = new JsonPieces();
  const { length } = pieces.addAll(events, eventView);
  const isCut = length < events.length;
  const cursor = isCut ? cursors[length - 1]! : page.cursor;
  const headers = { ...PRIVATE, "next-cursor": cursor };
  return listReply(pieces, isCut || page.more ? { ...headers, link: nextLink(context, cursor) } : headers);
}

function nextLink(context: RequestContext, cursor: string): string {
  const query = new URLSearchParams(context.search);
  query.set("cursor", cursor);
  return `<${context.base}${context.path}?${query}>; rel="next"`;
}
