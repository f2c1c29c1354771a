import { describe, expect, test } from "vitest";
import { INSTANCE_ID } from "../../http/support/fakes.ts";
import { CONSOLE_ENDPOINTS } from "./console-endpoints.ts";
import { consoleScene, FROM_PAGE } from "./console-scene.ts";

const REQUESTS: readonly (readonly [method: string, path: string])[] = [
  ...CONSOLE_ENDPOINTS.map(({ method, address }) => [method, address] as const),
  ["OPTIONS", "/console/api/session"],
  ["PUT", "/console/api/session"],
  ["GET", "/console/api/nothing"],
  ["GET", "/console/assets/nothing.js"],
  ["GET", "/console/calls"],
  ["HEAD", "/console"],
  ["POST", "/console"],
  ["GET", "/"],
  ["GET", "/console/v1/calls"],
  ["GET", "/console/v1/nothing"],
  ["DELETE", `/console/v1/instances/${INSTANCE_ID}`],
  ["GET", "/console/simulator/page"],
  ["GET", "/console/simulator/nothing"],
];

describe.each(REQUESTS)("every reply to %s %s", (method, path) => {
  test.each(["signed in", "signed out", "from another site"])("has the headers of the console, %s", async (state) => {
    const page = async (pagePath: string) =>
      pagePath === "/page" ? { status: 200, headers: { "content-type": "text/html" }, body: "<p>" } : undefined;
    const scene = consoleScene({ http: { http: { cors: true, pages: [{ prefix: "simulator", page }] } } });
    const { cookie = "" } = await scene.admin();
    const site = state === "from another site" ? { "sec-fetch-site": "cross-site" } : FROM_PAGE;
    const headers = { accept: "text/html", ...(state === "signed out" ? {} : { cookie }), ...site };
    const reply = await scene.send({ method, path, headers });
    expect(reply.headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "referrer-policy": expect.stringMatching(/^(no-referrer|same-origin)$/),
      "permissions-policy": expect.stringContaining("microphone=(self)"),
      "cache-control": expect.stringMatching(/no-store|no-cache/),
      "x-request-id": expect.stringMatching(/^req_/),
      "content-security-policy": expect.stringMatching(/^default-src 'none';.*frame-ancestors 'none'/),
    });
    expect(reply.headers["content-security-policy"]).not.toMatch(/unsafe|\*|https?:/);
    expect(Object.keys(reply.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
    if (method === "HEAD") expect(reply.text).toBe("");
  });
});

test("user-written texts are JSON, and never code for a browser", async () => {
  const scene = consoleScene();
  const browser = await scene.admin();
  const label = `</script><img src=x onerror="alert(1)">\u2028`;
  await browser.request("POST", "/api/tokens", { label });
  const reply = await browser.request("GET", "/api/tokens");
  expect(reply.json[0].label).toBe(label);
  expect(reply.headers).toMatchObject({ "content-type": "application/json", "x-content-type-options": "nosniff" });
  const problem = await browser.request("GET", "/api/%3Cscript%3E");
  expect(problem.headers["content-type"]).toBe("application/problem+json");
});
