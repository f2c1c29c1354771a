import { expect, test } from "vitest";
import type { CallUseCases } from "../../src/application/use-cases.ts";
import { MAX_PAGE_CHARACTERS } from "../../src/http/page.ts";
import { ask } from "./support/ask.ts";
import { call, event, eventPage, serve } from "./support/fakes.ts";

const METADATA = { note: "x".repeat(16_000) };
const ids = Array.from({ length: 200 }, (_, n) => `call_${String(n).padStart(26, "0")}`);

const next = (link: string | undefined): string | undefined => /^<([^>]+)>; rel="next"$/.exec(link ?? "")?.[1];

/** Requests a list from the path on until no link leads further. */
async function pagesOf(app: ReturnType<typeof serve>["app"], path: string) {
  const pages: { id: string }[][] = [];
  for (let at: string | undefined = path; at; ) {
    const { json, text, headers } = await ask(app, { path: at });
    expect(text.length).toBeLessThan(MAX_PAGE_CHARACTERS + 20_000);
    pages.push(json);
    at = next(headers.link);
  }
  return pages;
}

test("a page of large items ends early, and its link leads to the rest", async () => {
  let largestRead = 0;
  const list: CallUseCases["list"] = async (_, _filter, { limit = 0, after } = {}) => {
    largestRead = Math.max(largestRead, limit);
    const start = after ? ids.indexOf(after) + 1 : 0;
    return ids.slice(start, start + limit).map((id) => call({ id, metadata: METADATA }));
  };
  const { app } = serve({ calls: { list } });
  const pages = await pagesOf(app, "/v1/calls?limit=200&expand=reference");
  expect(pages.flat().map(({ id }) => id)).toEqual(ids);
  expect(pages.length).toBeGreaterThan(2);
  expect(largestRead).toBe(51);
});

test("a page of small items has as many as requested, whatever is read at once", async () => {
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
  const large = { type: "text_skipped", data: { text: METADATA.note, characters: 16_000 } } as const;
  const page = eventPage({
    events: ids.map(() => event(large)),
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
