import { describe, expect, test } from "vitest";
import type { LinkPageState } from "../../src/application/use-cases.ts";
import { Refusal, type RefusalCode } from "../../src/domain/refusal.ts";
import { StorageUnavailable } from "../../src/ports/storage.ts";
import { ask } from "./support/ask.ts";
import { INSTANCE_ID, NOW, serve } from "./support/fakes.ts";

const TICKET = `${INSTANCE_ID}.mkz9s3k0.${"5d".repeat(32)}`;
const path = `/link-page/${TICKET}`;
const code = {
  instanceId: INSTANCE_ID,
  payload: "https://example.test/simulator/link/abc?a=1&b=2",
  expiresAt: NOW + 20_000,
  sequence: 3,
  message: "Scan it.",
};
const waitingState: LinkPageState = { name: `Front "<desk>"`, linked: false, code };
const linkedState: LinkPageState = { name: `Front "<desk>"`, linked: true, phone: "+12025550123" };

const serveState = (state: LinkPageState) => serve({ instances: { linkPage: async () => state } });
const serveRefusal = (refusal: RefusalCode) =>
  serve({ instances: { linkPage: () => Promise.reject(new Refusal(refusal, "an <explanation>")) } });

test("POST /v1/instances/:instanceId/link-page responds with the address of the page", async () => {
  const response = await ask(serve().app, { method: "POST", path: `/v1/instances/${INSTANCE_ID}/link-page` });
  expect(response.status).toBe(201);
  expect(response.json).toEqual({
    url: `https://example.test/link-page/${INSTANCE_ID}.a.b`,
    expires_at: "2026-01-31T13:00:00.000Z",
  });
  expect(response.headers["cache-control"]).toBe("no-store");
});

describe("GET /link-page/:ticket", () => {
  const open = { path, token: null, headers: { accept: "text/html" } };

  test("shows the code and its address, with a script that the policy allows", async () => {
    const { status, text, headers } = await ask(serveState(waitingState).app, open);
    expect(status).toBe(200);
    expect(headers).toMatchObject({ "content-type": "text/html; charset=utf-8", "cache-control": "no-store" });
    expect(headers["referrer-policy"]).toBe("no-referrer");
    expect(text).toContain("“Front &#34;&#60;desk&#62;&#34;”");
    expect(text).toContain('href="https://example.test/simulator/link/abc?a=1&#38;b=2"');
    expect(text).toMatch(/src="data:image\/png;base64,iVBOR/);
    const [, script = ""] = /<script>([\s\S]*)<\/script>/.exec(text) ?? [];
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(script)));
    const policy = String(headers["content-security-policy"]);
    expect(policy).toContain(`script-src 'sha256-${btoa(String.fromCharCode(...hash))}'; connect-src 'self'`);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("unsafe");
  });

  test("shows the linked number without a script", async () => {
    const { text, headers } = await ask(serveState(linkedState).app, open);
    expect(text).toContain("now places its calls as +12025550123");
    expect(text).not.toContain("<script");
    expect(headers["content-security-policy"]).not.toContain("script-src");
  });

  test("returns its state as JSON to programs", async () => {
    const request = { path, token: null, headers: { accept: "application/json" } };
    const response = await ask(serveState(waitingState).app, request);
    expect(response.json).toMatchObject({ linked: false, phone: null, qrCodeBase64: expect.stringMatching(/^iVBOR/) });
    expect(response.headers).toMatchObject({ "cache-control": "no-store", vary: "Accept" });
    expect((await ask(serveState(linkedState).app, request)).json).toEqual({
      name: `Front "<desk>"`,
      linked: true,
      phone: "+12025550123",
      qrCodeBase64: null,
    });
  });

  test.each([
    ["link_page_not_found", 404],
    ["link_page_expired", 410],
    ["qr_unavailable", 503],
  ] as const)("explains %s to people and to programs", async (refusal, status) => {
    const { app } = serveRefusal(refusal);
    const pageResponse = await ask(app, open);
    expect(pageResponse.headers["content-type"]).toBe("text/html; charset=utf-8");
    expect([pageResponse.status, pageResponse.text.includes("an &#60;explanation&#62;")]).toEqual([status, true]);
    const problem = await ask(app, { path, token: null, headers: { accept: "application/json" } });
    expect([problem.status, problem.json.code]).toEqual([status, refusal]);
  });

  test("reloads itself after an error that may pass, even while the storage is down", async () => {
    const failToRead = () => Promise.reject(new StorageUnavailable("10.0.0.7 refused the connection"));
    for (const { app } of [serveRefusal("qr_unavailable"), serve({ instances: { linkPage: failToRead } })]) {
      const { status, text, headers } = await ask(app, open);
      expect(status).toBe(503);
      expect(text).toContain("<script>setTimeout(() => location.reload()");
      expect(text).not.toContain("10.0.0.7");
      expect(headers["content-security-policy"]).toContain("script-src 'sha256-");
      expect(headers["retry-after"]).toMatch(/^\d+$/);
    }
    expect((await ask(serveRefusal("link_page_expired").app, open)).text).not.toContain("<script");
  });

  test.each([
    ["GET", path],
    ["HEAD", path],
    ["OPTIONS", path],
    ["GET", `${path}/`],
    ["GET", `${path}/calls/${TICKET}`],
  ])("%s %s does not log the ticket", async (method, address) => {
    const { app, logLines } = serve({ instances: { linkPage: async () => linkedState }, http: { cors: true } });
    const preflight = { origin: "https://shop.example", "access-control-request-method": "GET" };
    await ask(app, { ...open, method, path: address, headers: method === "OPTIONS" ? preflight : open.headers });
    const [request] = logLines.filter(({ message }) => message === "request");
    expect(request?.fields.path).toBe("/link-page/…");
    expect(JSON.stringify(logLines)).not.toContain(TICKET);
  });
});
