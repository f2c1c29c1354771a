import { describe, expect, test } from "vitest";
import type { Principal } from "../../../src/domain/access/principal.ts";
import { CONSOLE_ENDPOINTS } from "./console-endpoints.ts";
import { consoleScene } from "./console-scene.ts";

/** A body for each route that has one. */
const BODIES: Readonly<Record<string, object>> = {
  "/password": { current: "a", next: "b" },
  "/account-deletion": { password: "a" },
  "/tokens": { label: "a" },
};
const bodyOf = (path: string, method: string) => (method === "POST" ? (BODIES[path] ?? {}) : undefined);
const addressOf = (address: string) => address.slice("/console".length);

/** Routes that anyone may use, repeated here by hand. */
const OPEN_ROUTES = ["GET /session", "POST /register", "POST /sign-in", "POST /password-reset", "POST /sign-out"];
/** Routes that need no account of Ringport. */
const USER_ROUTES = ["GET /summary", "GET /networks"];
const ADMIN_ROUTES = ["GET /invitations", "POST /invitations", "DELETE /invitations/:id"];

test("only these routes are open to everyone", () => {
  const openEndpoints = CONSOLE_ENDPOINTS.filter(({ access }) => access === "everyone");
  expect(openEndpoints.map(({ method, path }) => `${method} ${path}`)).toEqual(OPEN_ROUTES);
});

test("only these routes hash passwords; no other has expensive work", () => {
  const costlyEndpoints = CONSOLE_ENDPOINTS.filter(({ cost }) => cost !== "small");
  expect(costlyEndpoints.map(({ path }) => path)).toEqual([
    ...["/register", "/sign-in", "/password-reset", "/password", "/account-deletion"],
  ]);
  for (const { cost } of costlyEndpoints) expect(cost).toEqual(["passwords"]);
});

describe.each(CONSOLE_ENDPOINTS.filter(({ access }) => access === "signed-in"))("$method $path", (route) => {
  const { method, path, address } = route;
  const sendRequest = (browser: ReturnType<ReturnType<typeof consoleScene>["browser"]>) =>
    browser.request(method, addressOf(address), bodyOf(path, method));

  test("needs a session", async () => {
    const { status, json, headers } = await sendRequest(consoleScene().browser());
    expect([status, json.code]).toEqual([401, "unauthorized"]);
    expect(headers["www-authenticate"]).toMatch(/^Cookie /);
  });

  test("exists if the embedding program signs people in, or needs an account", async () => {
    const principal = async () => ({ userId: "usr_anna" });
    const { status, json } = await sendRequest(consoleScene({ signIn: { principal, url: "/login" } }).browser());
    const isForEveryUser = USER_ROUTES.includes(`${method} ${path}`);
    expect([status, json.code]).toEqual(isForEveryUser ? [200, undefined] : [404, "accounts_off"]);
  });

  test("is open to administrators only, or to members too", async () => {
    const scene = consoleScene();
    const { json } = await sendRequest(await scene.member(await scene.admin()));
    const isForAdmins = ADMIN_ROUTES.includes(`${method} ${path}`);
    expect(json?.code === "admin_required").toBe(isForAdmins);
  });
});

describe("another user's ids", () => {
  test("are unknown", async () => {
    const scene = consoleScene();
    const admin = await scene.admin();
    const member = await scene.member(admin);
    const { id: token } = (await admin.request("POST", "/api/tokens", { label: "mine" })).json;
    const [{ id: session }] = (await admin.request("GET", "/api/sessions")).json;
    const refusals = [
      await member.request("DELETE", `/api/tokens/${token}`),
      await member.request("DELETE", `/api/sessions/${session}`),
    ];
    expect(refusals.map(({ status, json }) => [status, json.code])).toEqual([
      [404, "token_not_found"],
      [404, "session_not_found"],
    ]);
    expect((await member.request("GET", "/api/tokens")).json).toEqual([]);
    expect((await admin.request("GET", "/api/tokens")).json).toHaveLength(1);
    expect((await admin.request("GET", "/v1/calls")).status).toBe(200);
  });

  test("cannot be reached by any path", async () => {
    const browser = await consoleScene().admin();
    for (const id of ["%00", "..%3f..", "a".repeat(10_000), "%25", "'", "%C3%A9", "tok_1;x"])
      expect((await browser.request("DELETE", `/api/tokens/${id}`)).json.code, id).toBe("token_not_found");
  });
});

test("a token is made, listed and revoked", async () => {
  const browser = await consoleScene().admin();
  const tokenInput = { label: "Shop", scopes: ["call", "read"], expires_at: "2030-01-31T12:00:00+01:00", more: 1 };
  const creation = await browser.request("POST", "/api/tokens", tokenInput);
  expect(creation.status).toBe(201);
  expect(creation.json).toEqual({
    id: expect.any(String),
    label: "Shop",
    scopes: ["call", "read"],
    demo_instance_id: null,
    created_at: expect.any(String),
    expires_at: "2030-01-31T11:00:00.000Z",
    last_used_at: null,
    token: expect.stringMatching(/^rp_live_/),
  });
  const { token, ...listedToken } = creation.json;
  const list = await browser.request("GET", "/api/tokens");
  expect(list.json).toEqual([listedToken]);
  expect(list.text).not.toContain(token);
  expect((await browser.request("DELETE", `/api/tokens/${listedToken.id}`)).status).toBe(204);
  expect((await browser.request("GET", "/api/tokens")).json).toEqual([]);
});

test("an invitation has its code in the fragment of its address", async () => {
  const browser = await consoleScene({ publicUrl: "https://calls.example.com/" }).admin();
  const { status, json } = await browser.request("POST", "/api/invitations");
  expect(status).toBe(201);
  expect(json.url).toMatch(/^https:\/\/calls\.example\.com\/console\/register#code=invitation_\d+$/);
  const list = await browser.request("GET", "/api/invitations");
  expect(list.json).toEqual([{ id: json.id, created_at: json.created_at, expires_at: json.expires_at }]);
  expect(list.text).not.toContain("invitation_");
});

test.each([
  ["POST", "/api/sign-in", { email: 1 }, ["/email", "/password"]],
  ["POST", "/api/tokens", { label: "a", scopes: ["root"] }, ["/scopes/0"]],
  ["POST", "/api/tokens", { label: "a", expires_at: "tomorrow" }, ["/expires_at"]],
] as const)("%s %s names each fault in its body", async (method, path, body, pointers) => {
  const { status, json } = await (await consoleScene().admin()).request(method, path, body);
  expect(status).toBe(400);
  expect(json.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(pointers);
});

test("a temporary refusal has a Retry-After", async () => {
  const scene = consoleScene();
  const browser = await scene.admin();
  const { AccountRefusal } = await import("../../../src/domain/access/account-refusal.ts");
  scene.accounts.signIn = () =>
    Promise.reject(new AccountRefusal("too_many_attempts", "wait", { retryAfterMs: 1_200 }));
  const { status, headers } = await browser.request("POST", "/api/sign-in", { email: "a@b.c", password: "x" });
  expect([status, headers["retry-after"]]).toEqual([429, "2"]);
});

describe("a program that signs people in itself", () => {
  const anna: Principal = { userId: "usr_anna", scopes: ["read"] };
  const scene = () =>
    consoleScene({
      signIn: {
        url: "/login",
        principal: async ({ headers }) => (headers.get("cookie") === "app=anna" ? anna : undefined),
      },
    });

  test("shows its own sign-in page", async () => {
    const { json } = await scene().browser().request("GET", "/api/session");
    expect(json).toMatchObject({ account: null, accounts: false, sign_in_url: "/login" });
  });

  test("decides who uses the console, with which scopes", async () => {
    const browser = scene().browser();
    browser.cookie = "app=anna";
    expect((await browser.request("GET", "/api/session")).json.account).toMatchObject({
      id: "usr_anna",
      role: "member",
    });
    expect((await browser.request("GET", "/v1/calls")).status).toBe(200);
    expect((await browser.request("POST", "/v1/instances", { name: "x" })).json.code).toBe("insufficient_scope");
    browser.cookie = "app=ben";
    expect((await browser.request("GET", "/v1/calls")).status).toBe(401);
  });

  test("ends open streams when it signs the user out or another one in", async () => {
    for (const after of [undefined, { userId: "usr_ben" }]) {
      let current: Principal | undefined = anna;
      const { browser, system } = consoleScene({ signIn: { url: "/login", principal: async () => current } });
      const { raw } = await browser().request("GET", "/v1/events", undefined, { accept: "text/event-stream" });
      const pieces = (raw.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
      await system.advance(1_000);
      expect((await pieces.next()).done).toBe(false);
      current = after;
      await system.advance(1_000);
      expect((await pieces.next()).done).toBe(true);
    }
  });

  test("results in a 500 if its sign-in fails", async () => {
    const principal = () => Promise.reject(new Error("connection refused to 10.0.0.7"));
    const { browser, logged } = consoleScene({ signIn: { url: "/login", principal } });
    const { status, json, text } = await browser().request("GET", "/v1/calls");
    expect([status, json.code]).toEqual([500, "internal_error"]);
    expect(text).not.toContain("10.0.0.7");
    expect(logged.filter(({ level }) => level === "error")).toHaveLength(1);
  });
});

test("no path under the console is rewritten", async () => {
  const browser = await consoleScene().admin();
  for (const [path, status] of [
    ["/../metrics", 404],
    ["/%2e%2e/metrics", 404],
    ["/v1/../../metrics", 404],
    ["/x%2f..%2f../metrics", 404],
    ["//api/session", 404],
    ["/\\..\\..\\metrics", 400],
    ["/v1/calls/%zz", 400],
  ] as const)
    expect([path, (await browser.request("GET", path)).status]).toEqual([path, status]);
});
