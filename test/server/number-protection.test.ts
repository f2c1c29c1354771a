import { expect, test } from "vitest";
import { ALL_TARGETS, describeEach, useServer } from "../support/server.ts";
import { expected } from "../support/server-client.ts";

/** Number of a callee who answers. */
const PHONE = "+12025550100";

describeEach(ALL_TARGETS, (target) => {
  const server = useServer(target, { env: { RINGPORT_QUEUE_PACE_MS: "1500", RINGPORT_QUEUE_PACE_JITTER: "0.1" } });

  test.concurrent("a forbidden number never rings until it is allowed again", async () => {
    const client = await server.as("ada");
    const { id: instanceId } = await client.activeInstance();
    const consent = `/v1/consents/${PHONE}`;
    expected(201, await client.send("PUT", consent, { body: JSON.stringify({ status: "do_not_call" }) }));
    const blockedCall = await client.call(instanceId, { target: { phoneNumber: PHONE } });
    expect(await client.waitForCall(blockedCall.id)).toMatchObject({
      status: "FAILED",
      started_at: null,
      outcome: { reason: "blocked_do_not_call", detail: expect.stringContaining(PHONE), heard_ms: 0 },
    });
    expect((await client.timeline(blockedCall.id)).map(({ type }) => type)).toEqual(["queued", "failed"]);
    expected(204, await client.send("DELETE", consent));
    const call = await client.call(instanceId, { target: { phoneNumber: PHONE } });
    expect(await client.waitForCall(call.id)).toMatchObject({ status: "COMPLETED" });
  });

  test.concurrent("a pace is kept under the single policy", async () => {
    const client = await server.as("grace");
    const { id: instanceId } = await client.activeInstance();
    const ringTimes: number[] = [];
    for (let i = 0; i < 2; i++) {
      const { id } = await client.call(instanceId, { target: { phoneNumber: "+12025550101" } });
      await client.waitForCall(id);
      const timeline = await client.timeline(id);
      ringTimes.push(Date.parse(timeline.find(({ type }) => type === "ringing")?.timestamp ?? ""));
    }
    const [first = 0, second = 0] = ringTimes;
    expect(second - first).toBeGreaterThanOrEqual(1_400);
  });
});
