import { createClient } from "ringport/client";
import { expect, test } from "vitest";
import type { CallUseCases } from "../../src/application/use-cases.ts";
import { eventCursor } from "../../src/domain/cursor.ts";
import { MAX_PAGE_CHARACTERS } from "../../src/http/replies/list-reply.ts";
import { ask } from "./support/ask.ts";
import { CALL_ID, call, event, eventPage, serve, TOKEN } from "./support/fakes.ts";

const METADATA = { note: "x".repeat(16_000) };
const LARGE_EVENT = { type: "text_skipped", data: { text: METADATA.note, characters: 16_000 } } as const;
const ids = Array.from({ length: 200 }, (_, n) => `call_${String(n).padStart(26, "0")}`);

const nextUrl = (link: string | undefined): string | undefined => /^<([^>]+)>; rel="next"$/.exec(link ?? "")?.[1];

/** Requests a list from the path, following its links. */
async function pagesOf(app: ReturnType<typeof serve>["app"], path: string) {
  const pages: { id: string }[][] = [];
  for (let url: string | undefined = path; url; ) {
    const { json, text, headers } = await ask(app, { path: url });
    expect(text.length).toBeLessThan(MAX_PAGE_CHARACTERS + 20_000);
    pages.push(json);
    url = nextUrl(headers.link);
  }
  return pages;
}

test("a page of large items ends early, and links to the rest", async () => {
  let maxReadCount = 0;
  const list: CallUseCases["list"] = async (_, _filter, { limit = 0, after } = {}) => {
    maxReadCount = Math.max(maxReadCount, limit);
    const start = after ? ids.indexOf(after) + 1 : 0;
    return ids.slice(start, start + limit).map((id) => call({ id, metadata: METADATA }));
  };
  const { app } = serve({ calls: { list } });
  const pages = await pagesOf(app, "/v1/calls?limit=200&expand=reference");
  expect(pages.flat().map(({ id }) => id)).toEqual(ids);
  expect(pages.length).toBeGreaterThan(2);
  expect(maxReadCount).toBe(51);
});

test("a page of small items has the requested number, however many the storage returns", async () => {
  const list: CallUseCases["list"] = async (_, _filter, { limit = 0, after } = {}) => {
    const start = after ? ids.indexOf(after) + 1 : 0;
    return ids.slice(start, start + limit).map((id) => call({ id }));
  };
  const { app } = serve({ calls: { list } });
  const pages = await pagesOf(app, "/v1/calls?limit=120");
  expect(pages.map(({ length }) => length)).toEqual([120, 80]);
  expect(pages.flat().map(({ id }) => id)).toEqual(ids);
});

test("a page of large events ends early with the cursor of its last event", async () => {
  const page = eventPage({
    events: ids.map(() => event(LARGE_EVENT)),
    cursors: ids.map((_, n) => `c${n}`),
    cursor: "end",
    more: false,
  });
  const { app } = serve({ queries: { events: async () => page } });
  const { json, headers } = await ask(app, { path: "/v1/events?limit=200" });
  expect(json.length).toBeLessThan(70);
  expect(headers["next-cursor"]).toBe(`c${json.length - 1}`);
  expect(headers.link).toContain(`cursor=c${json.length - 1}`);
});

test("a client gets a complete long timeline in the server's pages", async () => {
  const events = ids.map((id) => event({ ...LARGE_EVENT, id: id.replace("call", "evt") }));
  const cursors = events.map((_, n) => eventCursor({ position: n, eventId: null }));
  const requestedCursors: (string | undefined)[] = [];
  const { app } = serve({
    calls: {
      timeline: async (_, _id, { cursor } = {}) => {
        requestedCursors.push(cursor);
        const start = cursor === undefined ? 0 : cursors.indexOf(cursor) + 1;
        const page = { events: events.slice(start), cursors: cursors.slice(start), cursor: cursors.at(-1)! };
        return eventPage({ ...page, more: false });
      },
    },
  });
  const client = createClient({ url: "http://127.0.0.1:8080", token: TOKEN, fetch: (request) => app.fetch(request) });
  expect((await client.calls.events(CALL_ID)).map(({ id }) => id)).toEqual(events.map(({ id }) => id));
  expect(requestedCursors.length).toBeGreaterThan(2);
});
