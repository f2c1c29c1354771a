import { describe, expect, test } from "vitest";
import { StorageUnavailable } from "../../../src/ports/storage.ts";
import { consoleScene, FROM_PAGE } from "./console-scene.ts";
import { FIRST_CODE, PASSWORD } from "./fake-accounts.ts";

const ADA = { email: "ada@example.com", password: PASSWORD };
const setCookie = (headers: Record<string, string>) => headers["set-cookie"] ?? "";

describe("a session", () => {
  test("starts with the first user's registration, and belongs to that browser", async () => {
    const browser = consoleScene().browser();
    const before = await browser.request("GET", "/api/session");
    expect(before.json).toMatchObject({ account: null, registration: "first", accounts: true, sign_in_url: null });
    const registration = await browser.request("POST", "/api/register", { ...ADA, code: FIRST_CODE });
    expect(registration.status).toBe(200);
    expect(registration.json).toMatchObject({
      account: { email: ADA.email, role: "admin" },
      registration: "invitation",
    });
    expect((await browser.request("GET", "/api/session")).json.account).toEqual(registration.json.account);
  });

  test.each([true, false])("shows if calls can carry a browser's audio: %s", async (streamPreview) => {
    const { json } = await consoleScene({ streamPreview }).browser().request("GET", "/api/session");
    expect(json.streams).toBe(streamPreview);
  });

  test("shows the public address as configured, whether or not it includes the base path", async () => {
    const scene = consoleScene({ publicUrl: "https://calls.example.com/ring/", basePath: "/voice" });
    const { json } = await scene.browser().request("GET", "/api/session");
    expect(json.api_url).toBe("https://calls.example.com/ring");
  });

  test("is a cookie that scripts cannot read, for the console alone", async () => {
    const { browser, system } = consoleScene();
    const { headers } = await browser().request("POST", "/api/register", { ...ADA, code: FIRST_CODE });
    expect(setCookie(headers)).toBe(
      `ringport_session_8080=secret_3; Path=/console; Max-Age=${14 * 86_400}; HttpOnly; SameSite=Lax`,
    );
    expect(system.waiting).toBe(0);
  });

  test.each([
    ["of a public address with HTTPS", { publicUrl: "https://calls.example.com" }],
    ["with a base path", { publicUrl: "https://calls.example.com/voice", basePath: "/voice" }],
  ] as const)("is sent over HTTPS alone: %s", async (_, options) => {
    const scene = consoleScene(options);
    const browser = scene.browser();
    const { headers } = await browser.request("POST", "/api/register", { ...ADA, code: FIRST_CODE });
    const path = `${"basePath" in options ? "/voice" : ""}/console`;
    expect(setCookie(headers)).toMatch(new RegExp(`^__Secure-ringport_session=.*; Path=${path};.*; Secure$`));
    expect((await browser.request("GET", "/api/session")).json.account).not.toBeNull();
    const plainResponse = await scene.browser().request("GET", "/api/session", undefined, {
      cookie: browser.cookie?.replace("__Secure-", "") ?? "",
    });
    expect(plainResponse.json.account).toBeNull();
  });

  test("is left alone by a server on another port of the host", async () => {
    const [scene, otherScene] = [consoleScene(), consoleScene()];
    const browser = await scene.admin();
    const cookie = browser.cookie ?? "";
    const headers = { ...FROM_PAGE, cookie, host: "127.0.0.1:8081", "content-type": "application/json" };
    const path = "/console/api/session";
    const view = await otherScene.send({ path, headers });
    expect([view.json.account, setCookie(view.headers)]).toEqual([null, ""]);
    const body = { ...ADA, code: FIRST_CODE };
    const { headers: responseHeaders } = await otherScene.send({
      method: "POST",
      path: "/console/api/register",
      headers,
      body,
    });
    const [name = ""] = setCookie(responseHeaders).split("=");
    expect(name).toBe("ringport_session_8081");
    expect(cookie).not.toContain(`${name}=`);
    const bothCookies = { cookie: `${cookie}; ${setCookie(responseHeaders)}` };
    expect((await browser.request("GET", "/api/session", undefined, bothCookies)).json.account).not.toBeNull();
  });

  test.each([
    ["calls.example.com", ""],
    ["[::1]:9000", "_9000"],
    ["a host", ""],
  ])("has the port from the host %s in its cookie's name", async (host, suffix) => {
    const { status, headers } = await consoleScene()
      .browser()
      .request("POST", "/api/register", { ...ADA, code: FIRST_CODE }, { host });
    expect([status, setCookie(headers)]).toEqual([200, expect.stringContaining(`ringport_session${suffix}=`)]);
  });

  test("ends with a sign-out, in the browser and on the server", async () => {
    const scene = consoleScene();
    const browser = await scene.admin();
    const { cookie } = browser;
    const reply = await browser.request("POST", "/api/sign-out", {});
    expect([reply.status, setCookie(reply.headers)]).toEqual([204, expect.stringContaining("Max-Age=0")]);
    expect(browser.cookie).toBeUndefined();
    const thief = scene.browser();
    thief.cookie = cookie;
    expect((await thief.request("GET", "/v1/calls")).status).toBe(401);
    expect((await scene.browser().request("POST", "/api/sign-out", {})).status).toBe(204);
  });

  test("is extended by use", async () => {
    const scene = consoleScene();
    const browser = await scene.admin();
    await browser.request("GET", "/api/session"); // marks the browser
    await scene.system.advance(86_400_000);
    const { headers } = await browser.request("GET", "/api/session");
    expect(setCookie(headers)).toContain(`Max-Age=${13 * 86_400};`); // the fake does not prolong sessions
  });

  test("marks its browser once, with a cookie that outlives the sign-out", async () => {
    const scene = consoleScene();
    const browser = await scene.admin();
    expect(setCookie((await browser.request("GET", "/api/session")).headers)).toMatch(
      /^ringport_device_8080=[^;]+; Path=\/console; Max-Age=31536000; HttpOnly; SameSite=Lax$/,
    );
    const { device } = browser;
    expect(setCookie((await browser.request("GET", "/api/session")).headers)).toContain("ringport_session");
    await browser.request("POST", "/api/sign-out", {});
    expect([browser.cookie, browser.device]).toEqual([undefined, device]);
    await browser.request("POST", "/api/sign-in", { email: ADA.email, password: PASSWORD });
    expect(scene.accounts.devices).toEqual([device?.split("=")[1]]);
  });

  test("is removed from the browser once it has ended", async () => {
    const scene = consoleScene();
    const browser = await scene.admin();
    await scene.system.advance(15 * 86_400_000);
    const { headers, json } = await browser.request("GET", "/api/session");
    expect([json.account, setCookie(headers)]).toEqual([null, expect.stringContaining("Max-Age=0")]);
  });
});

describe("while the storage fails after the new session is stored", () => {
  const rejectAsFull = () => Promise.reject(new StorageUnavailable("the disk is full"));

  test.each([
    ["a registration", "/api/register", { ...ADA, code: FIRST_CODE }],
    ["a new password", "/api/password", { current: PASSWORD, next: "another password" }],
  ])("%s sets the browser's cookie", async (_, path, body) => {
    const scene = consoleScene();
    const browser = path === "/api/register" ? scene.browser() : await scene.admin();
    browser.cookie ??= "ringport_session_8080=before";
    const { cookie } = browser;
    scene.accounts.signOut = rejectAsFull;
    scene.accounts.registration = rejectAsFull;
    const { status, json } = await browser.request("POST", path, body);
    expect([status, json.account?.email]).toEqual([200, ADA.email]);
    expect(browser.cookie).not.toBe(cookie);
    expect((await browser.request("GET", "/v1/calls")).status).toBe(200);
    expect(scene.logged).toContainEqual(
      expect.objectContaining({ level: "warn", message: "the previous session of a browser could not be ended" }),
    );
  });
});

describe("a sign-in", () => {
  test("never continues the browser's earlier session", async () => {
    const scene = consoleScene();
    const admin = await scene.admin();
    const attacker = await scene.member(admin);
    const plantedCookie = attacker.cookie;
    // The attacker's cookie is in the victim's browser.
    const victim = scene.browser();
    victim.cookie = plantedCookie;
    const { json } = await victim.request("POST", "/api/sign-in", ADA);
    expect(json.account.email).toBe(ADA.email);
    expect(victim.cookie).not.toBe(plantedCookie);
    expect((await attacker.request("GET", "/v1/calls")).status).toBe(401);
    expect((await victim.request("GET", "/v1/calls")).status).toBe(200);
  });

  test("never accepts a secret from the request", async () => {
    const scene = consoleScene();
    await scene.admin();
    const victim = scene.browser();
    victim.cookie = "ringport_session_8080=chosen";
    await victim.request("POST", "/api/sign-in", ADA);
    expect(victim.cookie).not.toContain("chosen");
  });

  test("reveals no reason if it fails, and keeps the session", async () => {
    const scene = consoleScene();
    const browser = await scene.admin();
    const { cookie } = browser;
    const replies = [
      await browser.request("POST", "/api/sign-in", { ...ADA, password: "wrong" }),
      await browser.request("POST", "/api/sign-in", { ...ADA, email: "nobody@example.com" }),
    ];
    for (const { status, json, headers } of replies) {
      expect([status, json.code, headers["set-cookie"]]).toEqual([403, "sign_in_failed", undefined]);
      expect(json).toMatchObject({ type: "about:blank", status: 403, title: expect.any(String) });
    }
    expect(replies[0]?.json.detail).toBe(replies[1]?.json.detail);
    expect(browser.cookie).toBe(cookie);
    expect((await browser.request("GET", "/v1/calls")).status).toBe(200);
  });

  test("works despite a cookie set by other sites of the domain", async () => {
    const scene = consoleScene();
    const browser = await scene.admin();
    const attacker = await scene.member(browser);
    const cookie = `${browser.cookie}; ${attacker.cookie}`;
    // The server cannot know which of the two sessions is this browser's, so it signs the browser out.
    expect((await scene.browser().request("GET", "/api/session", undefined, { cookie })).json.account).toBeNull();
    const sessionResponse = await browser.request("GET", "/api/session", undefined, {
      cookie: `a=b; x${attacker.cookie}; ${browser.cookie}`,
    });
    expect(sessionResponse.json.account.email).toBe(ADA.email);
  });
});

test("a new password ends other sessions and renews this one", async () => {
  const scene = consoleScene();
  const currentBrowser = await scene.admin();
  const otherBrowser = scene.browser();
  await otherBrowser.request("POST", "/api/sign-in", ADA);
  const { cookie } = currentBrowser;
  const change = await currentBrowser.request("POST", "/api/password", { current: PASSWORD, next: "another password" });
  expect(change.json.account.email).toBe(ADA.email);
  expect(currentBrowser.cookie).not.toBe(cookie);
  expect((await currentBrowser.request("GET", "/v1/calls")).status).toBe(200);
  expect((await otherBrowser.request("GET", "/v1/calls")).status).toBe(401);
});

test("the sessions of an account are listed, and one can be ended", async () => {
  const scene = consoleScene();
  const currentBrowser = await scene.admin();
  const otherBrowser = scene.browser();
  await otherBrowser.request("POST", "/api/sign-in", ADA, { "user-agent": "Telephone 1.0" });
  const { json } = await currentBrowser.request("GET", "/api/sessions");
  expect(json).toEqual([
    expect.objectContaining({ current: true, user_agent: null }),
    expect.objectContaining({ current: false, user_agent: "Telephone 1.0", last_used_at: json[0].created_at }),
  ]);
  expect((await currentBrowser.request("DELETE", `/api/sessions/${json[1].id}`)).status).toBe(204);
  expect((await otherBrowser.request("GET", "/v1/calls")).status).toBe(401);
});

test("an account is deleted with its password, and the browser is signed out", async () => {
  const browser = await consoleScene().admin();
  const refusal = await browser.request("POST", "/api/account-deletion", { password: "wrong" });
  expect([refusal.status, refusal.json.code]).toEqual([403, "password_wrong"]);
  expect((await browser.request("POST", "/api/account-deletion", { password: PASSWORD })).status).toBe(204);
  expect(browser.cookie).toBeUndefined();
});
