import { describe, expect, test } from "vitest";
import { Refusal } from "../../src/domain/refusal.ts";
import type { NetworkPages } from "../../src/ports/network-pages.ts";
import type { Reply } from "../../src/ports/web.ts";
import { ask } from "./support/ask.ts";
import { CALL_ID, serve } from "./support/fakes.ts";

const wavReply: Reply = { status: 200, headers: { "content-type": "audio/wav" }, body: Uint8Array.of(82, 73, 70, 70) };
const htmlPage: Reply = { status: 200, headers: { "content-type": "text/html" }, body: "<p>Link</p>" };

function servePages(overrides: Partial<NetworkPages> = {}, basePath = "") {
  const requests: string[] = [];
  const pages: NetworkPages = {
    prefix: "simulator",
    page: async (path, request) => {
      requests.push(`${request.method} ${path}`);
      return path.startsWith("/link/") ? htmlPage : undefined;
    },
    artefact: async (callId, name) => {
      requests.push(`artefact ${callId} ${name}`);
      return name === "heard.wav" ? wavReply : undefined;
    },
    ...overrides,
  };
  return { ...serve({ http: { pages: [pages], basePath } }), requests };
}

describe("pages", () => {
  test("a page is public; the adapter receives the path after the prefix", async () => {
    const { app, requests } = servePages();
    for (const [method, path] of [
      ["GET", "/simulator/link/abc"],
      ["POST", "/simulator/link/abc"],
      ["HEAD", "/simulator/link/abc?x=1"],
    ] as const)
      expect((await ask(app, { method, path, token: null })).status).toBe(200);
    expect((await ask(app, { path: "/simulator", token: null })).status).toBe(404);
    expect((await ask(app, { path: "/simulator/nothing/", token: null })).status).toBe(404);
    expect(requests).toEqual(["GET /link/abc", "POST /link/abc", "GET /link/abc", "GET /", "GET /nothing/"]);
  });

  test("the codes in the paths of pages are not logged", async () => {
    const { app, logLines } = servePages({}, "/api");
    for (const path of ["link/0123456789abcdef", "0123456789abcdef/", "nothing/0123456789abcdef?x=0123456789abcdef"])
      await ask(app, { path: `/api/simulator/${path}`, token: null });
    const paths = logLines.flatMap(({ message, fields }) => (message === "request" ? [String(fields.path)] : []));
    expect(paths.filter((path) => path.includes("simulator"))).toEqual(Array(3).fill("/api/simulator/…"));
    expect(JSON.stringify(logLines)).not.toContain("0123456789abcdef");
  });

  test("an HTML page cannot be framed and loads no resources", async () => {
    const { headers } = await ask(servePages().app, { path: "/simulator/link/abc", token: null });
    expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'");
    expect(headers["content-security-policy"]).toContain("form-action 'self'");
    expect(headers).toMatchObject({ "x-content-type-options": "nosniff", "cache-control": "no-store" });
  });

  test("a page may set its own policy", async () => {
    const page = async () => ({ ...htmlPage, headers: { ...htmlPage.headers, "content-security-policy": "mine" } });
    const { headers } = await ask(servePages({ page }).app, { path: "/simulator/x", token: null });
    expect(headers["content-security-policy"]).toBe("mine");
  });

  test("a page's request body is bounded", async () => {
    const page: NetworkPages["page"] = async (_, request) => {
      for await (const _chunk of request.body ?? []);
      return htmlPage;
    };
    const body = (async function* () {
      for (;;) yield new Uint8Array(1024 * 1024);
    })();
    const reply = await ask(servePages({ page }).app, {
      method: "POST",
      path: "/simulator/link/abc",
      body,
      token: null,
    });
    expect(reply.status).toBe(413);
  });

  test("a header with a line break is never sent", async () => {
    const page = async () => ({ ...htmlPage, headers: { location: "/x\r\nset-cookie: a=b" } });
    const { app, logLines } = servePages({ page });
    const reply = await ask(app, { path: "/simulator/x", token: null });
    expect(reply.status).toBe(500);
    expect(JSON.stringify(reply.headers)).not.toContain("set-cookie");
    expect(logLines.some((line) => line.level === "error")).toBe(true);
  });

  test("a base path precedes the prefix", async () => {
    const { app, requests } = servePages({}, "/api");
    expect((await ask(app, { path: "/api/simulator/link/abc", token: null })).status).toBe(200);
    expect((await ask(app, { path: "/simulator/link/abc", token: null })).status).toBe(404);
    expect(requests).toEqual(["GET /link/abc"]);
  });

  test.each(["v1", "docs", "", "a/b", "A", "a b", "."])("the prefix %j is refused", (prefix) => {
    expect(() => servePages({ prefix })).toThrow(TypeError);
  });
});

describe("artefacts", () => {
  const path = `/simulator/calls/${CALL_ID}/heard.wav`;

  test("the owner of a call gets its artefacts", async () => {
    const { app, requests } = servePages();
    const reply = await ask(app, { path });
    expect(reply.raw.body).toEqual(wavReply.body);
    expect(reply.headers).toMatchObject({ "content-type": "audio/wav", "cache-control": "private, no-cache" });
    const head = await ask(app, { method: "HEAD", path });
    expect(head.headers["content-length"]).toBe("4");
    expect(requests).toEqual([`artefact ${CALL_ID} heard.wav`, `artefact ${CALL_ID} heard.wav`]);
  });

  test("another user gets a 404 without a request to the adapter", async () => {
    const { app, requests } = servePages();
    expect((await ask(app, { path, token: null })).status).toBe(401);
    const foreignReply = await ask(app, { path: "/simulator/calls/call_other/heard.wav" });
    expect([foreignReply.status, foreignReply.json.code]).toEqual([404, "call_not_found"]);
    expect((await ask(app, { method: "DELETE", path })).status).toBe(405);
    expect(requests).toEqual([]);
  });

  test("a missing or unfinished artefact is refused", async () => {
    const { app } = servePages();
    const missingReply = await ask(app, { path: `/simulator/calls/${CALL_ID}/other.wav` });
    expect([missingReply.status, missingReply.json.code]).toEqual([404, "recording_not_found"]);
    const artefact = async () => {
      throw new Refusal("recording_not_ready", "the call is not over");
    };
    const reply = await ask(servePages({ artefact }).app, { path });
    expect([reply.status, reply.json.code, reply.headers["retry-after"]]).toEqual([409, "recording_not_ready", "1"]);
  });
});
