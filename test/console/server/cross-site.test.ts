import { describe, expect, test } from "vitest";
import { guardedHttpPorts } from "../../../src/http/dependencies.ts";
import { allRoutes } from "../../../src/http/routes/all-routes.ts";
import { CALL_ID, dependencies } from "../../http/support/fakes.ts";
import { UNSAFE_ENDPOINTS } from "./console-endpoints.ts";
import { consoleScene } from "./console-scene.ts";
import { FIRST_CODE, PASSWORD } from "./fake-accounts.ts";

/** Headers that browsers send with requests from other sites' pages; each is refused. */
const FOREIGN_HEADERS: readonly Record<string, string>[] = [
  {},
  { "sec-fetch-site": "cross-site", origin: "https://evil.example" },
  { "sec-fetch-site": "same-site", origin: "http://127.0.0.1:9999" },
  { "sec-fetch-site": "none" },
  { "sec-fetch-site": "cross-site", origin: "http://127.0.0.1:8080" },
  { origin: "https://evil.example" },
  { origin: "http://127.0.0.1:9999" },
  { origin: "http://127.0.0.1:8080.evil.example" },
  { origin: "null" },
  { origin: "" },
  { origin: "http://" },
];

/** Requests of the HTTP interface that change state, at the paths that the console uses. */
const CHANGE_REQUESTS = allRoutes(guardedHttpPorts(dependencies()))
  .filter(({ method, path }) => method !== "GET" && path.startsWith("/v1/"))
  .map(({ method, path }) => ({ method, address: `/console${path.replace(/:\w+/g, "some_id")}` }));

describe("a change that no page of this server requests is refused", () => {
  test.each([...UNSAFE_ENDPOINTS, ...CHANGE_REQUESTS])("$method $address", async ({ method, address }) => {
    const scene = consoleScene();
    const { cookie = "" } = await scene.admin();
    for (const headers of FOREIGN_HEADERS) {
      const request = {
        method,
        path: address,
        body: {},
        headers: { cookie, "content-type": "application/json", ...headers },
      };
      const { status, json } = await scene.send(request);
      expect([status, json.code], JSON.stringify(headers)).toEqual([403, "cross_site"]);
    }
    expect(scene.accounts.auditNotes).toEqual([]);
    expect((await scene.browser().request("GET", "/api/session", undefined, { cookie })).json.account).not.toBeNull();
  });
});

describe("a request from our own page", () => {
  const ownRequests: readonly [string, Record<string, string>, string?][] = [
    ["by Sec-Fetch-Site", { "sec-fetch-site": "same-origin" }],
    ["by its origin, on a plain address", { origin: "http://127.0.0.1:8080" }],
    ["by its origin, behind a proxy that ends TLS", { origin: "https://127.0.0.1:8080" }],
    [
      "by its origin, if a proxy changes the host",
      { origin: "https://calls.example.com" },
      "https://calls.example.com/",
    ],
    [
      "by its origin, with the port of the scheme",
      { origin: "https://calls.example.com", host: "calls.example.com:443" },
    ],
  ];
  test.each(ownRequests)("%s", async (_, headers, publicUrl) => {
    const scene = consoleScene(publicUrl === undefined ? {} : { publicUrl });
    const browser = scene.browser();
    const person = { email: "ada@example.com", password: PASSWORD, code: FIRST_CODE };
    const { host } = { host: "127.0.0.1:8080", ...headers };
    await browser.request("POST", "/api/register", person, { host });
    const request = { method: "POST", path: "/console/api/tokens", body: { label: "a" } };
    const allHeaders = { cookie: browser.cookie ?? "", "content-type": "application/json", ...headers };
    expect((await scene.send({ ...request, headers: allHeaders })).status).toBe(201);
  });
});

test("a page at a plain HTTP address has no access if this server has HTTPS", async () => {
  const scene = consoleScene({ publicUrl: "https://127.0.0.1:8080" });
  const { cookie = "" } = await scene.admin();
  const headers = { cookie, "content-type": "application/json" };
  const request = { method: "POST", path: "/console/api/tokens", body: { label: "a" } };
  const from = async (origin: string) => (await scene.send({ ...request, headers: { ...headers, origin } })).status;
  expect([await from("http://127.0.0.1:8080"), await from("https://127.0.0.1:8080")]).toEqual([403, 201]);
});

test("a request that another site embeds is refused unread", async () => {
  const scene = consoleScene();
  const { cookie = "" } = await scene.admin();
  for (const path of [`/console/v1/calls/${CALL_ID}/recording`, "/console/v1/calls", "/console/api/tokens"])
    for (const site of ["cross-site", "same-site"]) {
      const { status, json } = await scene.send({ path, headers: { cookie, "sec-fetch-site": site } });
      expect([status, json.code]).toEqual([403, "cross_site"]);
    }
  expect((await scene.send({ path: "/console/v1/calls", headers: { cookie, "sec-fetch-site": "none" } })).status).toBe(
    200,
  );
  expect((await scene.send({ path: "/console/v1/calls", headers: { cookie } })).status).toBe(200);
});

test("a body that another site's form could send is refused", async () => {
  const browser = await consoleScene().admin();
  for (const type of [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "application/jsonp",
    "",
  ]) {
    const { status, json } = await browser.request("POST", "/api/tokens", { label: "a" }, { "content-type": type });
    expect([status, json.code], type).toEqual([415, "unsupported_media_type"]);
  }
});
