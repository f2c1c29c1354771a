import { describe, expect, test } from "vitest";
import type { Reply } from "../../src/ports/web.ts";
import { ask, requestOf } from "./support/ask.ts";
import { CALL_ID, serve } from "./support/fakes.ts";

const path = `/v1/calls/${CALL_ID}/stream`;
const upgradeHeaders = { upgrade: "websocket", connection: "Upgrade" };
describe("the stream while it is switched off", () => {
  test.each([path, "/v1/calls/call_unknown/stream", "/v1/calls/x%00y/stream"])("%s returns 501", async (path) => {
    const { app } = serve();
    const plainReply = await ask(app, { path });
    expect([plainReply.status, plainReply.json.code]).toEqual([501, "stream_not_available"]);
    expect(plainReply.json.detail).toContain("RINGPORT_STREAM_PREVIEW");
    const upgrade = await app.upgrade(requestOf({ path, headers: upgradeHeaders }));
    expect(upgrade).toMatchObject({ status: 501 });
  });

  test("a 401 precedes the 501", async () => {
    const { app } = serve();
    expect((await ask(app, { path, token: null })).status).toBe(401);
    const refusal = await app.upgrade(requestOf({ path, token: "wrong", headers: upgradeHeaders }));
    expect(refusal).toMatchObject({ status: 401, headers: { "www-authenticate": "Bearer" } });
  });
});

test("an upgrade of any other path gets the reply of a plain request", async () => {
  const { app } = serve();
  const upgrade = async (path: string) =>
    ((await app.upgrade(requestOf({ path, headers: upgradeHeaders }))) as Reply).status;
  expect(await upgrade("/v1/calls")).toBe(200);
  expect(await upgrade("/v1/nothing")).toBe(404);
});
