import { describe, expect, test } from "vitest";
import type { Call } from "../../src/domain/call.ts";
import type { Reply } from "../../src/ports/web.ts";
import { answered, ask, requestOf } from "./support/ask.ts";
import { CALL_ID, call, serve } from "./support/fakes.ts";

const path = `/v1/calls/${CALL_ID}/stream`;
const upgradeHeaders = { upgrade: "websocket", connection: "Upgrade" };
const preview = (over: Partial<Call> = { message: { type: "DYNAMIC_STREAM" } }) =>
  serve({
    http: { streamPreview: true },
    ...(Object.keys(over).length > 0 ? { calls: { get: async () => call(over) } } : {}),
  }).app;

describe("switched off", () => {
  test.each([path, "/v1/calls/call_unknown/stream", "/v1/calls/x%00y/stream"])(
    "%s is answered with 501",
    async (path) => {
      const { app } = serve();
      const plain = await ask(app, { path });
      expect([plain.status, plain.json.code]).toEqual([501, "stream_not_available"]);
      expect(plain.json.detail).toContain("RINGPORT_STREAM_PREVIEW");
      const upgrade = await app.upgrade(requestOf({ path, headers: upgradeHeaders }));
      expect(upgrade).toMatchObject({ status: 501 });
    },
  );

  test("401 comes before 501", async () => {
    const { app } = serve();
    expect((await ask(app, { path, token: null })).status).toBe(401);
    const refused = await app.upgrade(requestOf({ path, token: "wrong", headers: upgradeHeaders }));
    expect(refused).toMatchObject({ status: 401, headers: { "www-authenticate": "Bearer" } });
  });
});

describe("switched on", () => {
  test("401 comes first, then 404", async () => {
    expect((await ask(preview(), { path, token: null })).status).toBe(401);
    const reply = await ask(preview({}), { path: "/v1/calls/call_unknown/stream" });
    expect([reply.status, reply.json.code]).toEqual([404, "call_not_found"]);
  });

  test("a call of another type, and one that is over, are answered with 409", async () => {
    const other = await ask(preview({ message: { type: "FIXED_TTS", text: "a", voiceId: "en-US-1" } }), { path });
    expect([other.status, other.json.code]).toEqual([409, "not_a_stream_call"]);
    for (const status of ["COMPLETED", "FAILED"] as const) {
      const over = await ask(preview({ message: { type: "DYNAMIC_STREAM" }, status }), { path });
      expect([over.status, over.json.code]).toEqual([409, "call_ended"]);
    }
  });

  test("a plain request is told to upgrade", async () => {
    const reply = await ask(preview(), { path });
    expect([reply.status, reply.json.code]).toEqual([426, "upgrade_required"]);
    expect(reply.headers).toMatchObject({ upgrade: "websocket", connection: "upgrade" });
  });

  test("an upgrade is answered with 501 until the stream is released", async () => {
    const reply = answered((await preview().upgrade(requestOf({ path, headers: upgradeHeaders }))) as Reply);
    expect([reply.status, reply.json.code]).toEqual([501, "stream_not_available"]);
    expect(reply.json.detail).toContain("later release");
  });
});

test("an upgrade of any other address is answered as if it were none", async () => {
  const { app } = serve();
  const upgrade = async (path: string) =>
    ((await app.upgrade(requestOf({ path, headers: upgradeHeaders }))) as Reply).status;
  expect(await upgrade("/v1/calls")).toBe(200);
  expect(await upgrade("/v1/nothing")).toBe(404);
});
