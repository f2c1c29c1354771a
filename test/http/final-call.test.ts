import { describe, expect, test } from "vitest";
import type { CallUseCases } from "../../src/application/use-cases.ts";
import { ManualSystem } from "../../src/testing/manual-system.ts";
import { ask } from "./support/ask.ts";
import { CALL_ID, call, newId, serve } from "./support/fakes.ts";

const path = `/v1/calls/${CALL_ID}`;
const headers = { prefer: "wait=10" };

describe("GET /v1/calls/:callId with Prefer: wait", () => {
  test("the response is sent at the end of the call", async () => {
    const wait: CallUseCases["wait"] = async () => call({ status: "FAILED" });
    const reply = await ask(serve({ calls: { wait } }).app, { path, headers });
    expect([reply.json.status, reply.headers["preference-applied"]]).toEqual(["FAILED", "wait=10"]);
    expect(reply.headers.etag).toBeDefined();
  });

  test("a call that lasts longer is returned in its current state", async () => {
    const system = new ManualSystem();
    let status: "QUEUED" | "RINGING" = "QUEUED";
    const calls: Partial<CallUseCases> = {
      get: async () => call({ status }),
      wait: (_, __, { signal } = {}) =>
        new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason))),
    };
    const pendingReply = ask(serve({ calls, http: { system } }).app, { path, headers });
    await system.advance(9_999);
    status = "RINGING";
    await system.advance(1);
    const reply = await pendingReply;
    expect([reply.status, reply.json.status, reply.headers["preference-applied"]]).toEqual([200, "RINGING", "wait=10"]);
  });

  test("a final call is shown at once, and an unknown one is not found", async () => {
    const get: CallUseCases["get"] = async () => call({ status: "COMPLETED" });
    expect((await ask(serve({ calls: { get } }).app, { path, headers })).json.status).toBe("COMPLETED");
    const unknownReply = await ask(serve().app, { path: `/v1/calls/${newId("call")}`, headers });
    expect([unknownReply.status, unknownReply.json.code]).toEqual([404, "call_not_found"]);
  });
});
