import { describe, expect, test } from "vitest";
import type { CallUseCases, EventQuery, InstanceUseCases } from "../../src/application/use-cases.ts";
import type { CallFilter } from "../../src/domain/calls/call.ts";
import { encodeCursor, eventCursor } from "../../src/domain/cursor.ts";
import type { Page } from "../../src/ports/storage.ts";
import { ask, requestOf } from "./support/ask.ts";
import {
  CALL_ID,
  call,
  EVENT_ID,
  event,
  eventPage,
  INSTANCE_ID,
  listedInstance,
  newId,
  serve,
  TOKEN,
} from "./support/fakes.ts";

const ids = Array.from({ length: 7 }, () => newId("call"));

/** Pages over `ids`, as a storage would. */
const list: CallUseCases["list"] = async (_, _filter, page = {}) => {
  const start = page.after ? ids.indexOf(page.after) + 1 : 0;
  return ids.slice(start, page.limit === undefined ? undefined : start + page.limit).map((id) => call({ id }));
};

const nextUrl = (link: string | undefined): string | undefined => /^<([^>]+)>; rel="next"$/.exec(link ?? "")?.[1];

describe("GET /v1/calls", () => {
  test.each(["", "/api/voice"])("the links lead through all pages (base path %j)", async (basePath) => {
    const { app } = serve({ calls: { list }, http: { basePath } });
    let path: string | undefined = `${basePath}/v1/calls?limit=3&status=FAILED&expand=outcome`;
    const pages: string[][] = [];
    while (path) {
      const reply = await ask(app, { path });
      expect(reply.status).toBe(200);
      pages.push(reply.json.map((item: { id: string }) => item.id));
      path = nextUrl(reply.headers.link);
      if (path) {
        expect(path.startsWith(`${basePath}/v1/calls?`)).toBe(true);
        expect(path).toContain("limit=3&status=FAILED&expand=outcome&cursor=");
        expect(path).not.toContain("call_");
      }
    }
    expect(pages).toEqual([ids.slice(0, 3), ids.slice(3, 6), ids.slice(6)]);
  });

  test("a full last page has no link", async () => {
    const reply = await ask(serve({ calls: { list } }).app, { path: "/v1/calls?limit=7" });
    expect(reply.json).toHaveLength(7);
    expect(reply.headers).not.toHaveProperty("link");
  });

  test("the filters reach the use case; the default limit is 50", async () => {
    const queries: [CallFilter | undefined, Page | undefined][] = [];
    const recordQuery: CallUseCases["list"] = async (_, filter, page) => {
      queries.push([filter, page]);
      return [];
    };
    const { app } = serve({ calls: { list: recordQuery } });
    await ask(app, { path: "/v1/calls" });
    const times = "created_after=2026-01-31T12:00:00Z&created_before=2026-01-31T14:00:00.5+02:00";
    const filters = "reference=order+7,%20%C3%BC&target_phone=%2B12025550100";
    await ask(app, {
      path: `/v1/calls?instance_id=${INSTANCE_ID}&status=QUEUED,FAILED,QUEUED&type=FIXED_AUDIO&${times}&${filters}&unknown=1`,
    });
    expect(queries).toEqual([
      [{}, { limit: 51, after: undefined }],
      [
        {
          instanceId: INSTANCE_ID,
          status: ["QUEUED", "FAILED"],
          reference: "order 7, ü",
          targetPhone: "+12025550100",
          type: "FIXED_AUDIO",
          createdAfter: Date.UTC(2026, 0, 31, 12),
          createdBefore: Date.UTC(2026, 0, 31, 12, 0, 0, 500),
        },
        { limit: 51, after: undefined },
      ],
    ]);
  });

  test.each([
    ["limit", "0"],
    ["limit", "201"],
    ["limit", "-1"],
    ["limit", "1e2"],
    ["limit", ""],
    ["limit", "50&limit=51"],
    ["cursor", "call_01"],
    ["cursor", "!!!!"],
    ["cursor", btoa(INSTANCE_ID).replaceAll("=", "")],
    ["cursor", "A".repeat(65)],
    ["cursor", "%00"],
    ["status", "queued"],
    ["status", "__proto__"],
    ["status", "QUEUED,"],
    ["status", ""],
    ["reference", ""],
    ["reference", "%00"],
    ["reference", "x".repeat(1001)],
    ["target_phone", "12025550100"],
    ["target_phone", "+0"],
    ["type", "FIXED"],
    ["instance_id", "' or 1=1 --"],
    ["instance_id", "%00"],
    ["created_after", "yesterday"],
    ["created_after", "2026-02-30T00:00:00Z"],
    ["created_after", "2026-01-31T25:00:00Z"],
    ["created_after", "2026-01-31"],
    ["created_before", "1769860800000"],
  ])("%s=%s is refused by name", async (name, value) => {
    const reply = await ask(serve().app, { path: `/v1/calls?${name}=${value}` });
    expect([reply.status, reply.json.code]).toEqual([400, "invalid_request"]);
    expect(reply.json.errors).toMatchObject([{ pointer: "", parameter: name, code: "value_invalid" }]);
  });

  test("a 400 lists all invalid parameters", async () => {
    const reply = await ask(serve().app, { path: "/v1/calls?limit=x&status=y&cursor=*" });
    expect(reply.json.errors.map((fault: { parameter: string }) => fault.parameter)).toEqual([
      "status",
      "limit",
      "cursor",
    ]);
  });

  test("expand applies to the items of a list", async () => {
    const reply = await ask(serve().app, { path: "/v1/calls?expand=outcome" });
    expect(reply.json[0]).toHaveProperty("outcome", null);
    expect((await ask(serve().app, { path: "/v1/calls" })).json[0]).not.toHaveProperty("outcome");
  });
});

test("GET /v1/instances returns all without a limit, and pages with one", async () => {
  const pages: (Page | undefined)[] = [];
  const { app } = serve({
    instances: {
      list: async (_, page) => {
        pages.push(page);
        return [listedInstance(), listedInstance({ id: newId("inst") })];
      },
    },
  });
  expect((await ask(app, { path: "/v1/instances" })).headers).not.toHaveProperty("link");
  const reply = await ask(app, { path: "/v1/instances?limit=1" });
  expect(reply.json).toHaveLength(1);
  await ask(app, { path: nextUrl(reply.headers.link)! });
  expect(pages).toEqual([
    { limit: 16, after: undefined },
    { limit: 2, after: undefined },
    { limit: 2, after: INSTANCE_ID },
  ]);
});

describe("the log", () => {
  const OLD_CURSOR = encodeCursor(EVENT_ID);

  test.each(["/v1/events", `/v1/calls/${CALL_ID}/events`])("%s names the next cursor on every page", async (path) => {
    const queries: (EventQuery | undefined)[] = [];
    const pages = [
      eventPage({ more: true }),
      eventPage({ cursor: eventCursor({ position: 4, eventId: null }) }),
      eventPage({ events: [] }),
    ];
    const nextPage = async (query?: EventQuery) => {
      queries.push(query);
      return pages.shift()!;
    };
    const { app } = serve({
      calls: { timeline: (_, _id, query) => nextPage(query) },
      queries: { events: (_, query) => nextPage(query) },
    });
    const firstReply = await ask(app, { path: `${path}?limit=1` });
    expect(firstReply.headers["next-cursor"]).toBe(eventCursor({ position: 3, eventId: null }));
    expect(nextUrl(firstReply.headers.link)).toBe(
      `${path}?limit=1&cursor=${eventCursor({ position: 3, eventId: null })}`,
    );
    const finalReply = await ask(app, { path: nextUrl(firstReply.headers.link)! });
    expect(finalReply.headers["next-cursor"]).toBe(eventCursor({ position: 4, eventId: null }));
    expect(finalReply.headers).not.toHaveProperty("link");
    const emptyReply = await ask(app, { path: `${path}?cursor=${OLD_CURSOR}` });
    expect(emptyReply.json).toEqual([]);
    expect(emptyReply.headers["next-cursor"]).toBe(eventCursor({ position: 3, eventId: null }));
    expect(emptyReply.headers).not.toHaveProperty("link");
    expect(queries).toEqual([
      { limit: 1 },
      { limit: 1, cursor: eventCursor({ position: 3, eventId: null }) },
      { cursor: OLD_CURSOR },
    ]);
  });

  test.each([
    "",
    "!!!!",
    encodeCursor(CALL_ID),
    encodeCursor("log_-1"),
    encodeCursor("log_01"),
    encodeCursor("log_1e9"),
  ])("a cursor %j is refused", async (cursor) => {
    for (const path of ["/v1/events", `/v1/calls/${CALL_ID}/events`]) {
      const reply = await ask(serve().app, { path: `${path}?cursor=${cursor}` });
      expect([reply.status, reply.json.code]).toEqual([400, "invalid_request"]);
      expect(reply.json.errors).toMatchObject([{ parameter: "cursor", code: "value_invalid" }]);
    }
  });

  test("GET /v1/events lists the events of one instance or of all", async () => {
    const queries: unknown[] = [];
    const { app } = serve({
      queries: {
        events: async (_, query) => {
          queries.push(query);
          return eventPage({ events: [event({ callId: null, type: "instance.created", data: { name: "Line" } })] });
        },
      },
    });
    const reply = await ask(app, { path: "/v1/events" });
    expect(reply.json).toMatchObject([{ type: "instance.created", call_id: null }]);
    await ask(app, { path: `/v1/events?instance_id=${INSTANCE_ID}&limit=200` });
    expect(queries).toEqual([{}, { instanceId: INSTANCE_ID, limit: 200 }]);
  });
});

test("a full list is read no faster than the client consumes it", async () => {
  const instances = Array.from({ length: 100 }, () =>
    listedInstance({ id: newId("inst"), metadata: { note: "x".repeat(15_000) } }),
  );
  let readCount = 0;
  const { app } = serve({
    instances: {
      list: async (_, { limit, after } = {}) => {
        const start = after === undefined ? 0 : instances.findIndex(({ id }) => id === after) + 1;
        const page = instances.slice(start, limit === undefined ? undefined : start + limit);
        readCount += page.length;
        return page;
      },
    },
  });
  const reply = await app.handle(requestOf({ path: "/v1/instances" }));
  expect(readCount).toBeLessThan(20);
  const pieces: Uint8Array[] = [];
  for await (const piece of reply.body as AsyncIterable<Uint8Array>) {
    pieces.push(piece);
    expect(readCount).toBeLessThan(20 * (pieces.length + 1));
  }
  const listedInstances = JSON.parse(Buffer.concat(pieces).toString()) as { id: string }[];
  expect(listedInstances.map(({ id }) => id)).toEqual(instances.map(({ id }) => id));
  const head = await app.handle(requestOf({ method: "HEAD", path: "/v1/instances" }));
  expect([head.status, head.body, head.headers["content-length"]]).toEqual([200, undefined, undefined]);
});

test.each([0, 1, 15, 16, 17, 32, 33])("a list of %i instances is returned completely", async (count) => {
  const instances = Array.from({ length: count }, () => listedInstance({ id: newId("inst") }));
  const list: InstanceUseCases["list"] = async (_, { limit, after } = {}) => {
    const start = after === undefined ? 0 : instances.findIndex(({ id }) => id === after) + 1;
    return instances.slice(start, limit === undefined ? undefined : start + limit);
  };
  const { app } = serve({ instances: { list } });
  const response = await app.fetch(
    new Request("http://x/v1/instances", { headers: { authorization: `Bearer ${TOKEN}` } }),
  );
  expect(((await response.json()) as { id: string }[]).map(({ id }) => id)).toEqual(instances.map(({ id }) => id));
});
