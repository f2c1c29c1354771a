import { expect, test } from "vitest";
import { COMPLETED_REASONS, FAILED_REASONS } from "../../src/domain/calls/outcome.ts";
import { PROBLEMS } from "../../src/http/problems/problem-table.ts";
import { ask } from "./support/ask.ts";
import { serve } from "./support/fakes.ts";

const asset = async (name: string) =>
  name.startsWith("swagger-ui") ? new TextEncoder().encode(`/* ${name} */`) : undefined;

test("the documentation page loads only its own files", async () => {
  const { app } = serve({ http: { asset, basePath: "/api" } });
  const page = await ask(app, { path: "/api/docs", token: null });
  expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
  const policy = page.headers["content-security-policy"];
  expect(policy).toContain("default-src 'none'; script-src 'self';");
  expect(policy).toContain("connect-src 'self' https://example.test;");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(page.text).not.toMatch(/<script(?! src)/);
  const files = [...page.text.matchAll(/(?:src|href)="(?!data:)([^"]+)"/g)].map(([, file]) => file!);
  expect(files.length).toBeGreaterThanOrEqual(4);
  for (const path of files) {
    expect(path).toMatch(/^\/api\//);
    const file = await ask(app, { path, token: null });
    expect(file.status).toBe(200);
    expect(file.headers["x-content-type-options"]).toBe("nosniff");
    const secondReply = await ask(app, { path, token: null, headers: { "if-none-match": file.headers.etag! } });
    expect(secondReply.status).toBe(304);
  }
  const init = await ask(app, { path: "/api/docs/assets/init.js", token: null });
  expect(init.headers["content-type"]).toMatch(/^text\/javascript/);
  expect(init.text).toContain('"validatorUrl":null');
  expect(init.text).toContain('"/api/openapi.json"');
});

test("the path / redirects to /docs, with a base path and without", async () => {
  for (const [basePath, path] of [
    ["", "/"],
    ["/api", "/api"],
    ["/api", "/api/"],
  ] as const) {
    const { app } = serve({ http: { asset, basePath } });
    const reply = await ask(app, { path, token: null });
    expect({ path, status: reply.status }).toEqual({ path, status: 302 });
    expect(reply.headers.location).toBe(`${basePath}/docs`);
    expect((await ask(app, { path: reply.headers.location ?? "", token: null })).status).toBe(200);
    expect((await ask(app, { method: "POST", path, token: null })).status).toBe(405);
  }
  const { app } = serve({ http: { asset, basePath: "/api" } });
  for (const path of ["/", "/docs", "/apis", "/api//", "//"])
    expect({ path, status: (await ask(app, { path, token: null })).status }).toEqual({ path, status: 404 });
});

test("without its files, the page returns 404 and names openapi.json", async () => {
  for (const http of [{}, { asset: async () => undefined }]) {
    const { app } = serve({ http });
    for (const path of ["/", "/docs", "/docs/assets/swagger-ui.css", "/docs/assets/init.js"]) {
      const reply = await ask(app, { path, token: null });
      expect(reply.status).toBe(404);
      expect(reply.json.detail).toContain("/openapi.json");
    }
  }
});

test("the assets path serves only the files of the page", async () => {
  const requests: string[] = [];
  const spy = async (name: string) => {
    requests.push(name);
    return new Uint8Array(1);
  };
  const { app } = serve({ http: { asset: spy } });
  for (const name of ["package.json", "..%2f..%2fetc%2fpasswd", "%2e%2e", "toString", "swagger-ui.css.map"])
    expect((await ask(app, { path: `/docs/assets/${name}`, token: null })).status).toBe(404);
  expect(requests).toEqual([]);
});

test("the errors page anchors every code", async () => {
  const page = await ask(serve().app, { path: "/docs/errors", token: null });
  for (const [code, { title, status, meaning, fix }] of Object.entries(PROBLEMS)) {
    const start = page.text.indexOf(`id="${code}"`);
    expect(start).toBeGreaterThan(0);
    const section = plainText(page.text.slice(start, page.text.indexOf("<h", start)));
    expect(section).not.toContain("`");
    for (const text of [`${status} ${title}. ${meaning}`, fix]) expect(section).toContain(text.replaceAll("`", ""));
  }
  for (const reason of [...COMPLETED_REASONS, ...FAILED_REASONS]) expect(page.text).toContain(`id="reason-${reason}"`);
  expect(page.headers["content-security-policy"]).toMatch(/^default-src 'none'/);
});

test("an unknown address is an HTML page for browsers, a problem for programs", async () => {
  const { app } = serve({ http: { basePath: "/api" } });
  const accept = "text/html,application/xhtml+xml,*/*;q=0.8";
  const page = await ask(app, { path: "/api/nothing", token: null, headers: { accept } });
  expect([page.status, page.headers["content-type"]]).toEqual([404, "text/html; charset=utf-8"]);
  expect(page.text).toContain('href="/api/docs/errors"');
  expect(page.headers["content-security-policy"]).toMatch(/^default-src 'none'/);
  const problem = await ask(app, { path: "/api/nothing", token: null });
  expect([problem.status, problem.json.code]).toEqual([404, "not_found"]);
  for (const reply of [page, problem]) expect(reply.headers.vary).toBe("Accept");
  const versionedReply = await ask(app, { path: "/api/v1/nothing", headers: { accept } });
  expect([versionedReply.status, versionedReply.json.code]).toEqual([404, "not_found"]);
});

/** HTML as a reader sees it. */
function plainText(html: string): string {
  return html.replace(/<\/?code>/g, "").replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code));
}
