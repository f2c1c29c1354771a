import { describe, expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../../src/domain/limits.ts";
import { ask } from "./support/ask.ts";
import type { Served } from "./support/fakes.ts";
import { CREATED, call, serve } from "./support/fakes.ts";

/** An application that records the bodies that reach the use case. */
function serveRecording(bodyBytes = DEFAULT_LIMITS.bodyBytes): Served & { inputs: unknown[] } {
  const inputs: unknown[] = [];
  const create = async (_: unknown, input: unknown) => {
    inputs.push(input);
    return { ...call(), ...CREATED };
  };
  return { ...serve({ calls: { create }, http: { limits: { ...DEFAULT_LIMITS, bodyBytes } } }), inputs };
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
    expect((await post(serveRecording().app, {}, { "content-type": type })).status).toBe(201);
  });

  test("a body without content type is JSON", async () => {
    const { app, inputs } = serveRecording();
    expect((await post(app, '{"a":1}')).status).toBe(201);
    expect(inputs).toEqual([{ a: 1 }]);
  });

  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/json; charset=latin1",
    "application/jsonp",
    "json",
  ])("%s is refused with 415, unread", async (type) => {
    const { app, inputs } = serveRecording();
    const reply = await post(app, "{", { "content-type": type });
    expect([reply.status, reply.json.code]).toEqual([415, "unsupported_media_type"]);
    expect(inputs).toEqual([]);
  });

  test("a compressed body is refused with 415", async () => {
    expect((await post(serveRecording().app, "{}", { "content-encoding": "gzip" })).status).toBe(415);
    expect((await post(serveRecording().app, "{}", { "content-encoding": "identity" })).status).toBe(201);
  });
});

describe("JSON", () => {
  const invalidBodies: [string, unknown][] = [
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
  test.each(invalidBodies)("%s gets 400 invalid_json", async (_, body) => {
    const reply = await post(serveRecording().app, body);
    expect([reply.status, reply.json.code]).toEqual([400, "invalid_json"]);
    expect(reply.json.errors).toHaveLength(1);
    expect(reply.json.errors[0].pointer).toBe("");
  });

  test("a body may start with a byte order mark", async () => {
    const { app, inputs } = serveRecording();
    await post(app, new Uint8Array([0xef, 0xbb, 0xbf, 0x7b, 0x7d]));
    expect(inputs).toEqual([{}]);
  });

  test("characters may be split between chunks", async () => {
    const { app, inputs } = serveRecording();
    const bytes = new TextEncoder().encode('{"name":"é🎉"}');
    const body = (async function* () {
      for (const byte of bytes) yield Uint8Array.of(byte);
    })();
    await post(app, body);
    expect(inputs).toEqual([{ name: "é🎉" }]);
  });

  test("a hundred thousand levels of nesting do not crash the parser", async () => {
    const { app } = serveRecording();
    const reply = await post(app, "[".repeat(100_000) + "]".repeat(100_000));
    expect([201, 400]).toContain(reply.status);
    expect((await post(app, "[".repeat(1_000_000))).status).toBe(400);
  });

  test("a body that breaks off gets 400 invalid_json", async () => {
    const { app, logLines } = serveRecording();
    const body = (async function* () {
      yield new TextEncoder().encode('{"a"');
      throw new Error("ECONNRESET");
    })();
    expect((await post(app, body)).status).toBe(400);
    expect(logLines.some((line) => line.level === "error")).toBe(false);
  });
});

test("the parser of large bodies receives only bodies above 64 KiB", async () => {
  const parsedLengths: number[] = [];
  const inputs: unknown[] = [];
  const { app } = serve({
    calls: {
      create: async (_, input) => {
        inputs.push(input);
        return { ...call(), ...CREATED };
      },
    },
    http: {
      bodies: {
        async parse(bytes) {
          parsedLengths.push(bytes.length);
          return bytes[1] === 0x20 ? { value: "parsed elsewhere" } : { fault: "the body is odd" };
        },
        close: async () => {},
      },
    },
  });
  const body = (bytes: number) => `{${" ".repeat(bytes - 2)}}`;
  await post(app, body(65_536));
  await post(app, body(65_537));
  expect(inputs).toEqual([{}, "parsed elsewhere"]);
  expect(parsedLengths).toEqual([65_537]);
  expect((await post(app, "x".repeat(65_537))).json).toMatchObject({ code: "invalid_json", detail: "the body is odd" });
});

describe("size", () => {
  test("a body over the limit is refused immediately, and reading stops", async () => {
    let producedBytes = 0;
    let isClosed = false;
    const chunk = new Uint8Array(64 * 1024).fill(32);
    const body = (async function* () {
      try {
        for (; producedBytes < 1024 ** 3; producedBytes += chunk.length) yield chunk;
      } finally {
        isClosed = true;
      }
    })();
    const reply = await post(serveRecording(1024 * 1024).app, body);
    expect([reply.status, reply.json.code, reply.json.limit]).toEqual([413, "body_too_large", 1024 * 1024]);
    expect(reply.headers.connection).toBe("close");
    expect(producedBytes).toBeLessThan(1024 * 1024 + 3 * chunk.length);
    expect(isClosed).toBe(true);
  });

  test("a declared length over the limit is refused without reading", async () => {
    let isRead = false;
    const body = (async function* () {
      isRead = true;
      yield new Uint8Array(1);
    })();
    const reply = await post(serveRecording(1000).app, body, { "content-length": "1001" });
    expect(reply.status).toBe(413);
    expect(isRead).toBe(false);
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
    expect((await serveRecording(1000).app.handle(request)).status).toBe(413);
  });

  test("the longest name fits even if hardly any metadata is allowed", async () => {
    const { app } = serve({ http: { limits: { ...DEFAULT_LIMITS, metadataBytes: 2 } } });
    const body = JSON.stringify({ name: "\u0001".repeat(120) }); // six bytes each
    expect((await ask(app, { method: "POST", path: "/v1/instances", body })).status).toBe(201);
  });

  test("a body of exactly the maximum size is read", async () => {
    expect((await post(serveRecording(10).app, '"12345678"')).status).toBe(201);
    expect((await post(serveRecording(9).app, '"12345678"')).status).toBe(413);
  });
});
