import { expect, test } from "vitest";
import { documentOf } from "./support/document.ts";
import { serve } from "./support/fakes.ts";

const BASE_PATHS = ["", "/api"];
const claims = (app: ReturnType<typeof serve>["app"], path: string) => app.claims({ url: `http://h${path}` });

test.each(BASE_PATHS)("every path of the document is claimed (base path %j)", async (basePath) => {
  const { app } = serve({ http: { basePath } });
  const paths = Object.keys((await documentOf(app)).paths).filter((path) => path !== "/");
  expect(paths.length).toBeGreaterThan(10);
  for (const path of [...paths, "/v1", "/v1/nothing", "/docs/nothing", "/healthz/"])
    expect({ path, isClaimed: await claims(app, `${basePath}${path}?a=b`) }).toEqual({ path, isClaimed: true });
});

test.each(BASE_PATHS)("no other path is claimed (base path %j)", async (basePath) => {
  const { app } = serve({ http: { basePath } });
  for (const path of [
    "/users",
    "/v2",
    "/v1x",
    "/documents",
    "/V1",
    "//v1",
    "/favicon.ico",
    "/x/../v1",
    "/./v1",
    "/%2e/healthz",
  ])
    expect({ path, isClaimed: await claims(app, `${basePath}${path}`) }).toEqual({ path, isClaimed: false });
});

test("a path is claimed by its first segment as sent", async () => {
  const { app } = serve();
  for (const path of ["/v1/../users", "/metrics\\", "/docs/%2e%2e/x"])
    expect({ path, isClaimed: await claims(app, path) }).toEqual({ path, isClaimed: path !== "/metrics\\" });
});

test("the path / is claimed only under a base path", async () => {
  expect(await claims(serve().app, "/")).toBe(false);
  const { app } = serve({ http: { basePath: "/api" } });
  for (const [path, isClaimed] of [
    ["/", false],
    ["/api", true],
    ["/api/", true],
    ["/apis", false],
    ["/v1", false],
  ] as const)
    expect({ path, isClaimed: await claims(app, path) }).toEqual({ path, isClaimed });
});

test("the pages of a network are claimed by their prefix", async () => {
  const page = { prefix: "line", page: async () => undefined, artefact: async () => undefined };
  const { app } = serve({ http: { pages: [page] } });
  expect([await claims(app, "/line/x"), await claims(app, "/liner")]).toEqual([true, false]);
  for (const prefix of ["v1", "docs", "healthz", "readyz", "metrics", "console", "api", "assets"])
    expect(() => serve({ http: { pages: [{ ...page, prefix }] } })).toThrow(prefix);
});
