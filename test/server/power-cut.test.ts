import { expect, test } from "vitest";
import { expectProblem } from "../support/response-shapes.ts";
import { describeEach, ON_EVERY_POSTGRES, ON_NODE, useServer } from "../support/server.ts";
import { type CallView, expected, type InstanceView, until } from "../support/server-client.ts";

/** About a minute of speech: longer than a second server waits before it fails, even on a busy machine. */
const LONG_MESSAGE = {
  text: "Your appointment is tomorrow at nine in the morning. Please bring the documents that you were sent. ".repeat(
    10,
  ),
  voiceId: "en-US-1",
};

describeEach([ON_NODE, ...ON_EVERY_POSTGRES], (target) => {
  const server = useServer(target);

  test("every record confirmed with 201 survives kill -9", async () => {
    const client = await server.as("ada");
    const instances: InstanceView[] = [];
    for (let i = 0; i < 20; i++) instances.push(await client.createInstance(`Desk ${i}`));
    const callIds: string[] = [];
    let hasEnded = false;
    // Twenty clients post calls and end them, as fast as they get responses, until the power is cut.
    const clients = instances.map(async ({ id }) => {
      while (!hasEnded) {
        const response = await client.postCall(id, { type: "DYNAMIC_STREAM" }).catch(() => undefined);
        if (!response) return;
        const call = expected(201, response).json<CallView>();
        callIds.push(call.id);
        await client.delete(`/v1/calls/${call.id}`).catch(() => undefined);
      }
    });
    await until(
      () => callIds.length,
      (count) => count >= 200,
      20_000,
      "200 responses",
    );
    await server.kill9();
    hasEnded = true;
    await Promise.all(clients);
    await server.start();
    const replies = await Promise.all(callIds.map((id) => client.get(`/v1/calls/${id}`)));
    expect(replies.filter(({ status }) => status !== 200)).toEqual([]);
    expect(callIds.length).toBeGreaterThanOrEqual(200);
    // No instance ever had more than one queued call.
    const queuedRows = (await server.rows()).calls!.filter(({ status }) => status === "QUEUED");
    expect(new Set(queuedRows.map((row) => row.instance_id)).size).toBe(queuedRows.length);
  });

  test("a cut-off request stores both its call and its key, or neither", async () => {
    const client = await server.as("ada");
    const { id } = await client.createInstance();
    const headers = { "idempotency-key": `cut-${id}` };
    const pendingRequest = client.postCall(id, {}, headers).catch(() => undefined);
    await server.kill9();
    await pendingRequest;
    await server.start();
    const repetition = await client.postCall(id, {}, headers);
    // The request is replayed or creates a call; 200 would mean a call that was stored without its key.
    expect(repetition.status).toBe(201);
    const calls = (await server.rows()).calls!.filter((row) => row.instance_id === id);
    expect(calls).toHaveLength(1);
  });

  test("a second server on the same data fails with the reason", async () => {
    const client = await server.as("ada");
    const { id } = await client.call((await client.activeInstance()).id, { tts: LONG_MESSAGE });
    await client.waitForCall(id, ["IN_PROGRESS"]);
    const { code, stderr } = await server.cli("serve");
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/another server/i);
    expect((await client.readCall(id)).status).toBe("IN_PROGRESS");
    expect((await client.delete(`/v1/calls/${id}`)).status).toBe(204);
    expectProblem(await client.delete(`/v1/calls/${id}`), 404, "call_not_found");
  });
});
