import { describe, expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../../src/domain/limits.ts";
import { ask } from "./support/ask.ts";
import type { Served } from "./support/fakes.ts";
import { CREATED, call, serve } from "./support/fakes.ts";

/** An application that records the bodies that reach the use case. */
function recording(bodyBytes = DEFAULT_LIMITS.bodyBytes): Served & { seen: unknown[] } {
  const seen: unknown[] = [];
  const create = async (_: unknown, input: unknown) => {
    seen.push(input);
    return { ...call(), ...CREATED };
  };
  return { ...serve({ calls: { create }, http: { limits: { ...DEFAULT_LIMITS, bodyBytes } } }), seen };
}
const post = (app: Served["app"], body: unknown, headers: Record<string, string> = {}) =>
  ask(app, { method: "POST", path: "/v1/calls", body, headers });

describe("content type", () => {
  test.each([
    "application/json",
    "Application/JSON; charset=UTF-8",
    'application/json; charset="utf-8"; profile=x',
    "application/vnd.acme.call+json",
  ])("%s is read", async (type) => {
    expect((await post(recording().app, {}, { "content-type": type })).status).toBe(201);
  });

  test("a body without content type is JSON", async () => {
    const { app, seen } = recording();
    expect((await post(app, '{"a":1}')).status).toBe(201);
    expect(seen).toEqual([{ a: 1 }]);
  });

  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/json; charset=latin1",
    "application/jsonp",
    "json",
  ])("%s is refused with 415, unread", async (type) => {
    const { app, seen } = recording();
    const reply = await post(app, "{", { "content-type": type });
    expect([reply.status, reply.json.code]).toEqual([415, "unsupported_media_type"]);
    expect(seen).toEqual([]);
  });

  test("a compressed body is refused with 415", async () => {
    expect((await post(recording().app, "{}", { "content-encoding": "gzip" })).status).toBe(415);
    expect((await post(recording().app, "{}", { "content-encoding": "identity" })).status).toBe(201);
  });
});

describe("JSON", () => {
  const bad: [string, unknown][] = [
    ["no body", undefined],
    ["an empty body", ""],
    ["blanks", " \n"],
    ["half an object", '{"a":'],
    ["a bare word", "hello"],
    ["two values", "{}{}"],
    ["UTF-8 that is cut off", new Uint8Array([0x22, 0xf0, 0x9f])],
    ["Latin-1", new Uint8Array([0x22, 0xe9, 0x22])],
    ["an overlong sequence", new Uint8Array([0x22, 0xc0, 0xaf, 0x22])],
    ["UTF-16", new Uint8Array([0xff, 0xfe, 0x7b, 0, 0x7d, 0])],
  ];
  test.each(bad)("%s gets 400 invalid_json", async (_, body) => {
    const reply = await post(recording().app, body);
    expect([reply.status, reply.json.code]).toEqual([400, "invalid_json"]);
    expect(reply.json.errors).toHaveLength(1);
    expect(reply.json.errors[0].pointer).toBe("");
  });

  test("a body may start with a byte order mark", async () => {
    const { app, seen } = recording();
    await post(app, new Uint8Array([0xef, 0xbb, 0xbf, 0x7b, 0x7d]));
    expect(seen).toEqual([{}]);
  });

  test("characters may be split between chunks", async () => {
    const { app, seen } = recording();
    const bytes = new TextEncoder().encode('{"name":"é🎉"}');
    const body = (async function* () {
      for (const byte of bytes) yield Uint8Array.of(byte);
    })();
    await post(app, body);
    expect(seen).toEqual([{ name: "é🎉" }]);
  });

  test("a hundred thousand levels of nesting do not crash the parser", async () => {
    const { app } = recording();
    const reply = await post(app, "[".repeat(100_000) + "]".repeat(100_000));
    expect([201, 400]).toContain(reply.status);
    expect((await post(app, "[".repeat(1_000_000))).status).toBe(400);
  });

  test("a broken-off body means 400 invalid_json", async () => {
    const { app, logged } = recording();
    const body = (async function* () {
      yield new TextEncoder().encode('{"a"');
      throw new Error("ECONNRESET");
    })();
    expect((await post(app, body)).status).toBe(400);
    expect(logged.some((line) => line.level === "error")).toBe(false);
  });
});

test("the parser of large bodies receives only bodies above 64 KiB", async () => {
  const parsed: number[] = [];
  const seen: unknown[] = [];
  const { app } = serve({
    calls: {
      create: async (_, input) => {
        seen.push(input);
        return { ...call(), ...CREATED };
      },
    },
    http: {
      bodies: {
        async parse(bytes) {
          parsed.push(bytes.length);
          return bytes[1] === 0x20 ? { value: "parsed elsewhere" } : { fault: "the body is odd" };
        },
        close: async () => {},
      },
    },
  });
  const body = (bytes: number) => `{${" ".repeat(bytes - 2)}}`;
  await post(app, body(65_536));
  await post(app, body(65_537));
  expect(seen).toEqual([{}, "parsed elsewhere"]);
  expect(parsed).toEqual([65_537]);
  expect((await post(app, "x".repeat(65_537))).json).toMatchObject({ code: "invalid_json", detail: "the body is odd" });
});

describe("size", () => {
  test("a body over the limit is refused immediately, and reading stops", async () => {
    let produced = 0;
    let closed = false;
    const chunk = new Uint8Array(64 * 1024).fill(32);
    const body = (async function* () {
      try {
        for (; produced < 1024 ** 3; produced += chunk.length) yield chunk;
      } finally {
        closed = true;
      }
    })();
    const reply = await post(recording(1024 * 1024).app, body);
    expect([reply.status, reply.json.code, reply.json.limit]).toEqual([413, "body_too_large", 1024 * 1024]);
    expect(reply.headers.connection).toBe("close");
    expect(produced).toBeLessThan(1024 * 1024 + 3 * chunk.length);
    expect(closed).toBe(true);
  });

  test("a declared length over the limit is refused without reading", async () => {
    let read = false;
    const body = (async function* () {
      read = true;
      yield new Uint8Array(1);
    })();
    const reply = await post(recording(1000).app, body, { "content-length": "1001" });
    expect(reply.status).toBe(413);
    expect(read).toBe(false);
  });

  test("a source that hangs during cancellation does not delay the response", async () => {
    const body: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: false, value: new Uint8Array(600) }),
        return: () => new Promise(() => {}),
      }),
    };
    const request = {
      method: "POST",
      url: "http://h/v1/calls",
      headers: new Headers({ authorization: "Bearer rp_live_anna" }),
      body,
    };
    expect((await recording(1000).app.handle(request)).status).toBe(413);
  });

  test("the longest name fits even if hardly any metadata is allowed", async () => {
    const { app } = serve({ http: { limits: { ...DEFAULT_LIMITS, metadataBytes: 2 } } });
    const body = JSON.stringify({ name: "\u0001".repeat(120) }); // six bytes each
    expect((await ask(app, { method: "POST", path: "/v1/instances", body })).status).toBe(201);
  });

  test("a body of exactly the limit is read", async () => {
    expect((await post(recording(10).app, '"12345678"')).status).toBe(201);
    expect((await post(recording(9).app, '"12345678"')).status).toBe(413);
  });
});
