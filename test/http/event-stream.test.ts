import { describe, expect, test } from "vitest";
import type { EventPage, QueryUseCases } from "../../src/application/use-cases.ts";
import { eventCursor } from "../../src/domain/cursor.ts";
import { Refusal } from "../../src/domain/refusal.ts";
import { ManualSystem } from "../../src/testing/manual-system.ts";
import { ask, requestOf } from "./support/ask.ts";
import { event, eventPage, INSTANCE_ID, newId, serve, TOKEN } from "./support/fakes.ts";

const ACCEPT = { accept: "text/event-stream" };
const EMPTY_PAGE: EventPage = {
  events: [],
  cursors: [],
  cursor: eventCursor({ position: 5, eventId: null }),
  more: false,
};

/** Two events, then none until the signal is aborted. */
function twoEvents(requests: unknown[] = []): QueryUseCases["nextEvents"] {
  let readCount = 0;
  return async (_, query, { signal }) => {
    requests.push(query.cursor);
    if (readCount++ === 0) {
      const events = [
        event({ id: newId("evt") }),
        event({ id: newId("evt"), type: "instance.created", data: { name: "a\nb" } }),
      ];
      return {
        events,
        cursors: [eventCursor({ position: 3, eventId: null }), eventCursor({ position: 5, eventId: null })],
        cursor: eventCursor({ position: 5, eventId: null }),
        more: false,
      };
    }
    if (readCount === 2) return EMPTY_PAGE;
    await new Promise((resolve) => signal?.addEventListener("abort", resolve));
    return EMPTY_PAGE;
  };
}

async function openEventStream(
  app: ReturnType<typeof serve>["app"],
  path = "/v1/events",
  headers: Record<string, string> = {},
) {
  const reply = await app.handle(requestOf({ path, headers: { ...ACCEPT, ...headers } }));
  const pieces = (reply.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await pieces.next();
    return done ? undefined : new TextDecoder().decode(value);
  };
  return { reply, next, close: () => pieces.return?.() };
}

describe("GET /v1/events as a stream", () => {
  test("the id of each event is the next cursor; heartbeats follow", async () => {
    const requests: unknown[] = [];
    const { app } = serve({ queries: { nextEvents: twoEvents(requests) } });
    const { reply, next } = await openEventStream(app, `/v1/events?instance_id=${INSTANCE_ID}`);
    expect([reply.status, reply.headers["content-type"], reply.headers.vary]).toEqual([
      200,
      "text/event-stream",
      "Accept",
    ]);
    expect(await next()).toBe("retry: 1000\n\n");
    const messages = (await next())?.split("\n\n").slice(0, -1) ?? [];
    const [ids, data] = [
      messages.map((message) => message.split("\n")[0]),
      messages.map((message) => message.split("\n")[1] ?? ""),
    ];
    expect(ids).toEqual([
      `id: ${eventCursor({ position: 3, eventId: null })}`,
      `id: ${eventCursor({ position: 5, eventId: null })}`,
    ]);
    expect(data.map((line) => JSON.parse(line.slice("data: ".length)))).toMatchObject([
      { type: "dtmf" },
      { type: "instance.created", data: { name: "a\nb" } },
    ]);
    expect(await next()).toBe(": heartbeat\n\n");
    expect(requests).toEqual([undefined, eventCursor({ position: 5, eventId: null })]);
  });

  test("Last-Event-ID overrides the cursor; a wrong one is refused", async () => {
    const requests: unknown[] = [];
    const { app } = serve({ queries: { nextEvents: twoEvents(requests) } });
    const { next } = await openEventStream(app, `/v1/events?cursor=${eventCursor({ position: 1, eventId: null })}`, {
      "last-event-id": eventCursor({ position: 2, eventId: null }),
    });
    await next();
    await next();
    expect(requests).toEqual([eventCursor({ position: 2, eventId: null })]);
    const refusal = await ask(app, { path: "/v1/events", headers: { ...ACCEPT, "last-event-id": "evt 1" } });
    expect([refusal.status, refusal.json.code]).toEqual([400, "invalid_request"]);
  });

  test("the stream ends when the token is revoked", async () => {
    const system = new ManualSystem();
    let isValid = true;
    const authenticate = async (token: string) => (token === TOKEN && isValid ? { userId: "usr_anna" } : undefined);
    const { app } = serve({ queries: { nextEvents: twoEvents() }, http: { system, authenticate } });
    const { next } = await openEventStream(app);
    for (let n = 0; n < 3; n++) expect(await next()).toBeDefined();
    const finalText = next();
    isValid = false;
    await system.advance(1_000);
    expect(await finalText).toBeUndefined();
  });

  test("the stream ends without an error when the server stops", async () => {
    const nextEvents = () => Promise.reject(new Refusal("stopping", "the server is stopping"));
    const { app, logLines } = serve({ queries: { nextEvents } });
    const { next } = await openEventStream(app);
    await next();
    expect(await next()).toBeUndefined();
    expect(logLines.filter(({ level }) => level !== "info")).toEqual([]);
  });

  test("a user has at most 100 streams; the end or timeout of one makes room", async () => {
    const system = new ManualSystem();
    const { app } = serve({ queries: { nextEvents: twoEvents() }, http: { system } });
    const streams = await Promise.all(Array.from({ length: 100 }, () => openEventStream(app)));
    const refusal = await ask(app, { path: "/v1/events", headers: ACCEPT });
    expect([refusal.status, refusal.json.code]).toEqual([503, "server_busy"]);
    await streams[0]?.next();
    await streams[0]?.close();
    const nextStream = await openEventStream(app);
    expect(nextStream.reply.status).toBe(200);
    await system.advance(10_000); // the others are never read
    const laterStreams = await Promise.all(Array.from({ length: 99 }, () => openEventStream(app)));
    expect(laterStreams.map(({ reply }) => reply.status)).toEqual(Array(99).fill(200));
  });

  test("a HEAD has headers and opens no stream", async () => {
    const { app } = serve();
    for (let n = 0; n < 101; n++) {
      const reply = await app.handle(requestOf({ method: "HEAD", path: "/v1/events", headers: ACCEPT }));
      expect([reply.status, reply.body]).toEqual([200, undefined]);
    }
  });
});

describe("Prefer: wait", () => {
  test.each([
    ["wait=10", 10_000, "wait=10"],
    ["handling=strict, WAIT = 10; x=y", 10_000, "wait=10"],
    ['wait="7"', 7_000, "wait=7"],
    ["wait=3600", 60_000, "wait=60"],
    ["wait=0", undefined, undefined],
    ["wait=-1", undefined, undefined],
    ["waits=1", undefined, undefined],
    ["wait=1.5", undefined, undefined],
  ])("%s waits %s ms for events", async (prefer, waitMs, appliedPreference) => {
    const requests: unknown[] = [];
    const nextEvents: QueryUseCases["nextEvents"] = async (_, __, options) => {
      requests.push(options.waitMs);
      return eventPage();
    };
    const reply = await ask(serve({ queries: { nextEvents } }).app, { path: "/v1/events", headers: { prefer } });
    expect(requests).toEqual(waitMs === undefined ? [] : [waitMs]);
    expect([reply.status, reply.headers["preference-applied"]]).toEqual([200, appliedPreference]);
    expect(reply.headers["next-cursor"]).toBe(eventCursor({ position: 3, eventId: null }));
  });
});
