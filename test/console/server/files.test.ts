import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import * as fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { fuzz } from "../../support/fuzz.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { consoleScene } from "./console-scene.ts";

const SCRIPT = "console.log('the console');\n".repeat(20);
const INDEX = `<!doctype html><title>Ringport</title><script type="module" src="/console/assets/main-ABC123.js"></script>`;

/** A folder as the build leaves it. */
function buildFolder(): string {
  const folder = join(temporaryFolder("console"), "assets");
  mkdirSync(folder);
  const write = (name: string, bytes: string | Uint8Array) => writeFileSync(join(folder, name), bytes);
  write("index.html", INDEX);
  write("main-ABC123.js", SCRIPT);
  write("main-ABC123.js.br", brotliCompressSync(SCRIPT));
  write("main-ABC123.js.gz", gzipSync(SCRIPT));
  write("logo-1.svg", "<svg/>");
  writeFileSync(join(folder, "..", "secret.js"), "the secret");
  return `${pathToFileURL(folder).href}/`;
}

const folder = buildFolder();
const file = (name: string, headers: Record<string, string> = {}, basePath = "") =>
  consoleScene({ assets: [folder], basePath }).send({ path: `${basePath}/console/assets/${name}`, headers });
const page = (path: string, headers: Record<string, string> = {}, basePath = "") =>
  consoleScene({ assets: [folder], basePath }).send({
    path: basePath + path,
    headers: { accept: "text/html", ...headers },
  });

describe("a file of the pages", () => {
  test.each([
    ["br, gzip", "br"],
    ["gzip, deflate", "gzip"],
    ["br;q=0, gzip;q=0.5", "gzip"],
    ["BR;q=1.0", "br"],
    ["brotli", undefined],
    ["", undefined],
    ["gzip;q=0.000", undefined],
  ])("is sent for %j as %s", async (acceptedEncoding, coding) => {
    const { status, headers, raw } = await file("main-ABC123.js", { "accept-encoding": acceptedEncoding });
    const bytes = { br: brotliCompressSync(SCRIPT), gzip: gzipSync(SCRIPT) }[coding ?? ""] ?? Buffer.from(SCRIPT);
    expect([status, headers["content-encoding"], headers.vary]).toEqual([200, coding, "Accept-Encoding"]);
    expect(Buffer.compare(raw.body as Uint8Array, bytes)).toBe(0);
  });

  test("is cached permanently, with its type", async () => {
    const { headers } = await file("main-ABC123.js");
    expect(headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    expect(headers["content-type"]).toBe("text/javascript; charset=utf-8");
    const revalidation = await file("main-ABC123.js", { "if-none-match": headers.etag ?? "" });
    expect([revalidation.status, revalidation.text, revalidation.headers.etag]).toEqual([304, "", headers.etag]);
    const otherResponse = await file("main-ABC123.js", {
      "if-none-match": headers.etag ?? "",
      "accept-encoding": "br",
    });
    expect([otherResponse.status, otherResponse.headers.etag === headers.etag]).toEqual([200, false]);
  });

  test.each([
    "../secret.js",
    "..%2fsecret.js",
    "%2e%2e/secret.js",
    "..%5csecret.js",
    ".%00./secret.js",
    "/secret.js",
    "main-ABC123.js.br",
    "index.html",
    "nothing.js",
    "",
    ".",
    "file:///etc/passwd",
    "http://example.com/x.js",
    "logo-1.svg/",
  ])("is not %j", async (name) => {
    const { headers, text } = await file(name);
    expect(headers["content-type"]).toMatch(/^(application\/problem\+json|text\/html)/);
    expect(text).not.toContain("the secret");
  });

  fuzz(
    "is never outside the folder, and no name breaks the server",
    fc.asyncProperty(
      fc.array(
        fc.oneof(fc.constantFrom("..", "/", "\\", "%2e", "%2f", "secret", ".js", "%00", "C:", "~"), fc.string()),
      ),
      async (parts) => {
        const { status, text } = await file(parts.join(""));
        expect(status).toBeLessThan(500);
        expect(text).not.toContain("the secret");
      },
    ),
  );
});

describe("on JSR", () => {
  const source = "https://jsr.io/@ringport/ringport/0.1.0/adapters/console/assets/";

  test("the files are fetched once, from next to the source", async () => {
    const requests: string[] = [];
    vi.spyOn(globalThis, "fetch").mockImplementation(async (url) => {
      requests.push(String(url).slice(source.length));
      return String(url).endsWith("main-ABC123.js") ? new Response(SCRIPT) : new Response("", { status: 404 });
    });
    const { send } = consoleScene({ assets: [source] });
    const path = "/console/assets/main-ABC123.js";
    expect((await send({ path })).text).toBe(SCRIPT);
    expect((await send({ path })).text).toBe(SCRIPT);
    expect(requests).toEqual(["main-ABC123.js"]);
    expect((await send({ path: "/console/assets/nothing.js" })).status).toBe(404);
  });

  test("an unreachable registry is not a server fault", async () => {
    vi.spyOn(globalThis, "fetch").mockRejectedValue(new TypeError("fetch failed"));
    const { send } = consoleScene({ assets: [source] });
    expect((await send({ path: "/console", headers: { accept: "text/html" } })).status).toBe(503);
  });
});

describe("the page", () => {
  test.each([
    "/console",
    "/console/",
    "/console/calls",
    "/console/calls/call_1?x=1",
    "/console/phone?number=%2B1",
    "/console/docs",
  ])("is served at %s", async (path) => {
    const { status, text, headers } = await page(path);
    expect([status, text]).toEqual([200, INDEX]);
    expect(headers).toMatchObject({ "content-type": "text/html; charset=utf-8", "cache-control": "no-cache" });
    expect(headers["content-security-policy"]).toContain("script-src 'self';");
  });

  test("loads its files from under the base path", async () => {
    const { text } = await page("/console/calls", {}, "/voice");
    expect(text).toContain(`src="/voice/console/assets/main-ABC123.js"`);
    expect((await file("main-ABC123.js", {}, "/voice")).status).toBe(200);
  });

  test("is not served to programs", async () => {
    const { status, json } = await page("/console/calls", { accept: "application/json" });
    expect([status, json.code]).toEqual([404, "not_found"]);
    expect((await page("/console/api/nothing")).json.code).toBe("not_found");
    expect((await page("/console", { accept: "*/*" })).text).toBe(INDEX);
  });

  test("names the build command if it was not built", async () => {
    const scene = consoleScene({ assets: [`${folder}nothing/`] });
    const { status, text, headers } = await scene.send({ path: "/console", headers: { accept: "text/html" } });
    expect([status, headers["content-type"]]).toEqual([503, "text/html; charset=utf-8"]);
    expect(text).toContain("npm run console");
  });
});
