import { expect, test } from "vitest";
import { consoleScene } from "./console-scene.ts";

const signIn = (scopes?: readonly "call"[]) => ({
  principal: async () => ({ userId: "usr_anna", ...(scopes && { scopes }) }),
  url: "/login",
});

test("the summary is the signed-in user's", async () => {
  const { status, json } = await consoleScene({ signIn: signIn() }).browser().request("GET", "/api/summary");
  expect(status).toBe(200);
  expect(json).toEqual({
    days: [{ day: "2026-11-27", completed: 1, failed: 2 }],
    failures: [{ reason: "busy", calls: 2 }],
  });
});

test("networks have the HTTP interface's names", async () => {
  const { status, json } = await (await consoleScene().admin()).request("GET", "/api/networks");
  expect([status, json]).toEqual([
    200,
    [{ name: "simulator", linking: "code", receives_audio: true, caller_ids: "*" }],
  ]);
});

test("the embedding program's user needs the read scope", async () => {
  for (const path of ["/api/summary", "/api/networks"]) {
    const { status, json } = await consoleScene({ signIn: signIn(["call"]) })
      .browser()
      .request("GET", path);
    expect([status, json.code]).toEqual([403, "insufficient_scope"]);
  }
});
