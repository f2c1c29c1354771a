import * as fc from "fast-check";
import { expect, test } from "vitest";
import { fuzz } from "../../support/fuzz.ts";
import { UNSAFE_ENDPOINTS } from "./console-endpoints.ts";
import { consoleScene, FROM_PAGE } from "./console-scene.ts";
import { FIRST_CODE, PASSWORD } from "./fake-accounts.ts";

/** A character that a header can hold. */
const headerText = fc.string({ unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)) });
const cookies = fc.oneof(
  headerText,
  fc
    .array(fc.tuple(fc.constantFrom("ringport_session_8080", "a", "", " ", "ringport_session_8080 "), headerText))
    .map((pairs) => pairs.map(([name, value]) => `${name}=${value}`).join("; ")),
);

fuzz(
  "no random cookie signs a user in or breaks a reply",
  fc.asyncProperty(cookies, async (cookie) => {
    const scene = consoleScene();
    await scene.admin();
    const state = await scene.send({ path: "/console/api/session", headers: { ...FROM_PAGE, cookie } });
    expect([state.status, state.json.account]).toEqual([200, null]);
    expect((await scene.send({ path: "/console/v1/calls", headers: { ...FROM_PAGE, cookie } })).status).toBe(401);
    expect(scene.logged.filter(({ level }) => level === "error")).toEqual([]);
  }),
);

const json = fc.oneof(
  fc.json(),
  fc.string(),
  fc.uint8Array({ maxLength: 200 }),
  fc.record(
    Object.fromEntries(
      [
        "email",
        "password",
        "code",
        "current",
        "next",
        "label",
        "scopes",
        "expires_at",
        "demo_instance_id",
        "__proto__",
      ].map((name) => [name, fc.oneof(fc.jsonValue(), fc.constant(PASSWORD), fc.string())]),
    ),
    { requiredKeys: [] },
  ),
);

fuzz(
  "no body makes the server fail",
  fc.asyncProperty(json, fc.constantFrom(...UNSAFE_ENDPOINTS), async (body, { method, address }) => {
    const scene = consoleScene();
    const { cookie = "" } = await scene.admin();
    const headers = { ...FROM_PAGE, cookie, "content-type": "application/json" };
    const { status } = await scene.send({ method, path: address, body, headers });
    expect(status).toBeLessThan(500);
    expect(scene.logged.filter(({ level }) => level === "error")).toEqual([]);
  }),
);

test("a body larger than 64 KiB is refused, and no more of it is read", async () => {
  const browser = consoleScene().browser();
  let readCount = 0;
  const body = (async function* () {
    for (;;) {
      readCount++;
      yield new Uint8Array(1024).fill(0x20);
    }
  })();
  const { status, json } = await browser.request("POST", "/api/sign-in", body);
  expect([status, json.code, readCount]).toEqual([413, "body_too_large", 65]);
});

test("a body that declares more than 64 KiB is refused unread", async () => {
  const body = { email: "a@b.c", password: "x" };
  const { status } = await consoleScene()
    .browser()
    .request("POST", "/api/sign-in", body, { "content-length": "65537" });
  expect(status).toBe(413);
});

test.each(["", "[]", "null", "1", "{", '"text"', `${"[".repeat(20)}`])("the body %j is refused", async (body) => {
  const { status, json } = await consoleScene().browser().request("POST", "/api/sign-in", body);
  expect([status, json.code]).toEqual([400, "invalid_json"]);
});

test("only the code of the first start registers the first person", async () => {
  const browser = consoleScene().browser();
  for (const code of [undefined, "", "x", `${FIRST_CODE} `]) {
    const { status, json } = await browser.request("POST", "/api/register", {
      email: "a@b.c",
      password: PASSWORD,
      code,
    });
    expect([status, json.code]).toEqual([403, "code_invalid"]);
  }
  expect(browser.cookie).toBeUndefined();
});
