import { expect, test } from "vitest";
import { describeEach, ON_EVERY_POSTGRES } from "../support/server.ts";
import { until } from "../support/server-client.ts";
import { byeAt, createTrunkInstance, invitedAt, LEASE_LOST, LEASE_MS, Pair, SOON_MS } from "./pair.ts";

describeEach(ON_EVERY_POSTGRES, (target) => {
  test("a server without its database hangs up before another one dials", async () => {
    const pair = await Pair.start(target, "exit");
    const { first, second, relay } = pair;
    const client = await first.as("ada");
    const id = await createTrunkInstance(client);
    const firstCall = await pair.placeCall(client, id, 0);

    await relay.cut();
    const leaseEnd = await pair.leaseEnd();
    await second.start();
    const secondCall = await pair.placeCall(second.client(client.token), id, 1);
    expect(firstCall.phoneCall.end).toBe("caller hung up");
    expect(byeAt(firstCall.phoneCall)).toBeLessThan(leaseEnd);
    expect(invitedAt(secondCall.phoneCall)).toBeGreaterThan(leaseEnd);
    const lastPacketAt = firstCall.phoneCall.voice?.packets.at(-1)?.at ?? 0;
    expect(lastPacketAt).toBeLessThan(leaseEnd);
    expect(await first.exited).toBe(LEASE_LOST);
  });

  test("a live call outlives an outage shorter than its lease", async () => {
    const pair = await Pair.start(target, "exit");
    const client = await pair.first.as("ada");
    const { call, phoneCall } = await pair.placeCall(client, await createTrunkInstance(client), 0);
    await pair.relay.cut();
    await until(
      () => pair.first.output,
      (output) => output.includes("could not be renewed"),
      SOON_MS,
      "a renewal to fail",
    );
    const previousLeaseEnd = await pair.leaseEnd();
    await pair.relay.repair();
    await until(
      () => pair.leaseEnd(),
      (leaseEnd) => leaseEnd > previousLeaseEnd + LEASE_MS,
      SOON_MS,
      "several renewals",
    );
    expect(phoneCall.end).toBeUndefined();
    expect((await client.readCall(call.id)).status).toBe("IN_PROGRESS");
  });
});
