import { afterAll, beforeAll, expect, test } from "vitest";
import type { Listening } from "../../../adapters/server/listening.ts";
import { serve } from "../../http/support/fakes.ts";
import { PATH_SPELLINGS } from "../../support/path-spellings.ts";
import { sendRaw } from "./raw.ts";
import { runtime, serveHere } from "./this-runtime.ts";

let listening: Listening;

beforeAll(async () => {
  listening = await serveHere({ ...serve().app, publicUrl: "http://calls.example.com" });
});
afterAll(() => listening.close());

/** The status for a request target sent unchanged. */
async function statusOf(target: string, head = ""): Promise<number> {
  const request = Buffer.from(`GET ${target} HTTP/1.1\r\nHost: h\r\n${head}\r\n`, "latin1");
  const { text } = await sendRaw(listening.port, request, { responses: 1 });
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]);
}

test("a path is served, whatever its query", async () => {
  expect(await statusOf("/metrics")).toBe(200);
  expect(await statusOf("/metrics?a=\\..\\x|{}")).toBe(200);
  expect(await statusOf("http://h/metrics")).toBe(200);
});

test.each(PATH_SPELLINGS)("$target is never rewritten: $status", async ({ target, status, bun }) => {
  const expected = (runtime === "bun" && bun) || status;
  expect(await statusOf(target)).toBe(expected);
  expect(await statusOf(target, "Connection: Upgrade\r\nUpgrade: websocket\r\n")).toBe(expected);
});

test.each(["/a b", "/a\tb", "/a\u0001b", "\\metrics", "/\u00ff"])("%j is not a valid target", async (target) => {
  const status = await statusOf(target);
  // Bun mistakes the text after a space for the version.
  expect(runtime === "bun" ? [400, 404, 505] : [400]).toContain(status);
});
