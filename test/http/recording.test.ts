import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { byteRange } from "../../src/http/replies/file-reply.ts";
import { toResponse } from "../../src/http/replies/reply.ts";
import type { StoredRecording } from "../../src/ports/recordings.ts";
import { fuzz } from "../support/fuzz.ts";
import { ask } from "./support/ask.ts";
import { CALL_ID, call, serve } from "./support/fakes.ts";

const FILE = Uint8Array.from({ length: 1_000 }, (_, at) => at % 251);
const PATH = `/v1/calls/${CALL_ID}/recording`;
const ENDED_CALL = { status: "COMPLETED", recordedMs: 60, startedAt: 1, endedAt: 61 } as const;

const storedRecording: StoredRecording = {
  size: FILE.length,
  durationMs: 60,
  async *bytes(from = 0, to = FILE.length) {
    for (let offset = from; offset < to; offset += 300) yield FILE.subarray(offset, Math.min(to, offset + 300));
  },
};

const serveCall = (status: "IN_PROGRESS" | "COMPLETED") =>
  serve({ calls: { get: async () => call({ ...ENDED_CALL, status }), recording: async () => storedRecording } });

async function bodyOf(body: unknown): Promise<Uint8Array> {
  const bytes: number[] = [];
  for await (const piece of body as AsyncIterable<Uint8Array>) bytes.push(...piece);
  return Uint8Array.from(bytes);
}

describe("the recording of a call", () => {
  test("the recording is sent in pieces, with its length", async () => {
    const reply = await ask(serveCall("COMPLETED").app, { path: PATH });
    expect(reply.status).toBe(200);
    expect(reply.headers).toMatchObject({ "content-length": "1000", "accept-ranges": "bytes" });
    expect(await bodyOf(reply.raw.body)).toEqual(FILE);
  });

  test("the recording of a finished call supports ranges", async () => {
    const headers = { range: "bytes=250-899" };
    const reply = await ask(serveCall("COMPLETED").app, { path: PATH, headers });
    expect(reply.status).toBe(206);
    expect(reply.headers).toMatchObject({ "content-length": "650", "content-range": "bytes 250-899/1000" });
    expect(await bodyOf(reply.raw.body)).toEqual(FILE.slice(250, 900));
    expect((await ask(serveCall("IN_PROGRESS").app, { path: PATH, headers })).status).toBe(200);
    expect((await ask(serveCall("IN_PROGRESS").app, { path: PATH, headers })).headers["accept-ranges"]).toBe("none");
    const refusal = await ask(serveCall("COMPLETED").app, { path: PATH, headers: { range: "bytes=1000-" } });
    expect(refusal.json).toMatchObject({ code: "range_not_satisfiable" });
    expect(refusal.headers["content-range"]).toBe("bytes */1000");
  });

  test("the recording of a finished call has an ETag for If-Range and If-None-Match", async () => {
    const { app } = serveCall("COMPLETED");
    const { etag = "" } = (await ask(app, { path: PATH })).headers;
    expect(etag).toMatch(/^"[0-9a-f]+"$/);
    expect((await ask(serveCall("IN_PROGRESS").app, { path: PATH })).headers).not.toHaveProperty("etag");
    const statusWith = async (headers: Record<string, string>) => (await ask(app, { path: PATH, headers })).status;
    const range = "bytes=250-899";
    expect(await statusWith({ range, "if-range": etag })).toBe(206);
    for (const otherTag of ['"a"', `W/${etag}`, "Sun, 22 Nov 2026 18:45:05 GMT"])
      expect(await statusWith({ range, "if-range": otherTag })).toBe(200);
    expect(await statusWith({ "if-none-match": etag })).toBe(304);
    expect(await statusWith({ "if-none-match": '"a"' })).toBe(200);
  });

  test("a HEAD returns the length without reading the recording", async () => {
    let isRead = false;
    const app = serve({
      calls: {
        get: async () => call(ENDED_CALL),
        recording: async () => ({
          ...storedRecording,
          async *bytes() {
            isRead = true;
            yield FILE;
          },
        }),
      },
    }).app;
    const reply = await ask(app, { method: "HEAD", path: PATH });
    expect([reply.status, reply.headers["content-length"], reply.raw.body, isRead]).toEqual([
      200,
      "1000",
      undefined,
      false,
    ]);
  });

  test("expand=media adds the length and address of the recording, or null", async () => {
    const media = async (overrides: Parameters<typeof call>[0]) =>
      (
        await ask(serve({ calls: { get: async () => call(overrides) } }).app, {
          path: `/v1/calls/${CALL_ID}?expand=media`,
        })
      ).json.media;
    expect((await media(ENDED_CALL)).recording).toEqual({
      duration_ms: 60,
      url: expect.stringMatching(`^http.*${PATH}$`),
    });
    expect((await media({ recordedMs: 0 })).recording).toBeNull();
    expect(await media({ recordedMs: null })).not.toHaveProperty("recording");
    expect(await media({ recordedMs: 0, message: { type: "DYNAMIC_STREAM" } })).toEqual({
      stream: null,
      recording: null,
    });
  });
});

test("a body in pieces is read on demand and closed with its reader", async () => {
  let [yieldedCount, isEnded] = [0, false];
  async function* pieces() {
    try {
      for (;;) {
        yieldedCount++;
        yield FILE;
      }
    } finally {
      isEnded = true;
    }
  }
  const reader = toResponse({ status: 200, headers: {}, body: pieces() }).body?.getReader();
  for (let i = 0; i < 3; i++) expect((await reader?.read())?.value).toEqual(FILE);
  expect(yieldedCount).toBeLessThanOrEqual(5);
  await reader?.cancel();
  expect(isEnded).toBe(true);
});

describe("a byte range", () => {
  test.each([
    ["bytes=0-0", { from: 0, to: 1 }],
    ["bytes=10-", { from: 10, to: 100 }],
    ["bytes=-10", { from: 90, to: 100 }],
    ["bytes=-1000", { from: 0, to: 100 }],
    ["bytes=90-1000", { from: 90, to: 100 }],
    [" Bytes = 1 - 2 ", { from: 1, to: 3 }],
    ["bytes=100-", "unsatisfiable"],
    ["bytes=-0", "unsatisfiable"],
    ["bytes=5-4", undefined],
    ["bytes=0-1,5-6", undefined],
    ["bytes=-", undefined],
    ["lines=0-1", undefined],
    ["", undefined],
    [null, undefined],
  ])("%j of 100 is %j", (header, range) => {
    expect(byteRange(header, 100)).toEqual(range);
  });

  const header = fc.oneof(fc.string(), fc.stringMatching(/^bytes=\d{0,20}-\d{0,20}$/));
  fuzz(
    "is within the body, or none, whatever the header",
    fc.property(header, fc.nat(), (header, size) => {
      const range = byteRange(header, size);
      if (typeof range !== "object") return;
      expect(range.from).toBeGreaterThanOrEqual(0);
      expect(range.to).toBeGreaterThan(range.from);
      expect(range.to).toBeLessThanOrEqual(size);
    }),
  );
});
