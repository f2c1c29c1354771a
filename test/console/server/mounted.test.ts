import { describe, expect, test } from "vitest";
import { withConsole } from "../../../adapters/console/index.ts";
import { createRingport, type Ringport } from "../../../src/ringport.ts";
import { requestOf } from "../../http/support/ask.ts";
import { serve } from "../../http/support/fakes.ts";
import { consoleScene } from "./console-scene.ts";

const OTHER_PATHS = ["/v1/calls", "/docs", "/openapi.json", "/healthz", "/consoles", "/nothing", "/link-page/x"];

describe.each(["", "/voice"])("with the base path %j", (basePath) => {
  const requestPath = (app: Pick<Ringport, "handle">, path: string, headers = {}) =>
    app.handle(requestOf({ path, headers: { accept: "text/html", ...headers } }));

  test("the front page redirects to the console", async () => {
    const { app } = consoleScene({ basePath });
    for (const path of basePath === "" ? ["/", ""] : ["/voice", "/voice/"])
      expect(await requestPath(app, path)).toMatchObject({ status: 302, headers: { location: `${basePath}/console` } });
  });

  test("all other paths respond as without it", async () => {
    const { app } = consoleScene({ basePath });
    const { app: appWithoutConsole } = serve({ http: { basePath } });
    const ids = { "x-request-id": "one" };
    for (const path of OTHER_PATHS)
      expect(await requestPath(app, basePath + path, ids), path).toEqual(
        await requestPath(appWithoutConsole, basePath + path, ids),
      );
    const principal = { userId: "usr_anna" };
    const request = requestOf({ path: `${basePath}/v1/calls`, token: null });
    expect((await app.handle(request, principal)).status).toBe(200);
    expect(await app.upgrade(request, principal)).toMatchObject({ status: 200 });
  });

  test("the app claims only the paths of Ringport and its console", async () => {
    const { app } = consoleScene({ basePath });
    const isClaimed = async (path: string) => app.claims({ url: `http://h${basePath}${path}` });
    expect(await Promise.all(["/console", "/console/calls", "/v1/x", "/consoles", "/x"].map(isClaimed))).toEqual([
      ...[true, true, true],
      ...[false, false],
    ]);
    expect(await isClaimed("/")).toBe(basePath !== "");
  });

  test("a WHATWG request gets a response", async () => {
    const { app } = consoleScene({ basePath });
    const response = await app.fetch(new Request(`http://h${basePath}/console/api/session`));
    expect([response.status, await response.json()]).toEqual([200, expect.objectContaining({ account: null })]);
    expect((await app.fetch(new Request(`http://h${basePath}/healthz`))).status).toBe(200);
  });
});

test("a program without the console has no such paths", async () => {
  const { app } = serve();
  expect(await app.claims({ url: "http://h/console" })).toBe(false);
  expect((await app.handle(requestOf({ path: "/console", token: null }))).status).toBe(404);
  expect((await app.handle(requestOf({ path: "/", token: null }))).headers.location).toBeUndefined();
});

test("the console never rejects", async () => {
  const throwError = () => {
    throw new Error("the log is broken");
  };
  const { app: core } = serve();
  const log = { debug: throwError, info: throwError, warn: throwError, error: () => {} };
  const app = withConsole(
    { ...core, basePath: "", accounts: {}, acceptsOwnTokens: true, absence: () => undefined } as unknown as Ringport,
    {
      log,
    },
  );
  const reply = await app.handle(requestOf({ path: "/console/api/session", token: null }));
  expect(reply).toMatchObject({ status: 500, headers: { "content-type": "application/problem+json" } });
  expect(await app.upgrade(requestOf({ path: "/console/v1/calls", token: null }))).toMatchObject({ status: 500 });
});

test("a Ringport with the program's users needs signIn, because it accepts no account tokens", () => {
  const authenticate = async () => ({ userId: "usr_anna" });
  const signIn = { url: "/login", principal: async () => undefined };
  const ringport = createRingport({ authenticate });
  expect(() => withConsole(ringport)).toThrow(/^signIn is missing: .*authenticate/);
  expect(withConsole(ringport, { signIn }).acceptsOwnTokens).toBe(false);
  expect(withConsole(createRingport()).acceptsOwnTokens).toBe(true);
});
