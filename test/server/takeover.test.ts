import process from "node:process";
import { expect, test } from "vitest";
import { expectProblem } from "../support/response-shapes.ts";
import { describeEach, ON_EVERY_POSTGRES } from "../support/server.ts";
import { until } from "../support/server-client.ts";
import { createTrunkInstance, endOf, invitedAt, LEASE_LOST, Pair, SOON_MS } from "./pair.ts";

describeEach(ON_EVERY_POSTGRES, (target) => {
  for (const onLeaseLost of ["exit", "restart"] as const)
    test(`a server paused beyond its lease hangs up first, then ${onLeaseLost}s`, async () => {
      const pair = await Pair.start(target, onLeaseLost);
      const { first, second } = pair;
      const client = await first.as("ada");
      const id = await createTrunkInstance(client);
      const firstCall = await pair.placeCall(client, id, 0);

      process.kill(first.pid, "SIGSTOP");
      const leaseEnd = await pair.leaseEnd();
      await second.start();
      const secondClient = second.client(client.token);
      expect((await secondClient.readCall(firstCall.call.id)).outcome?.reason).toBe("interrupted");
      const secondCall = await pair.placeCall(secondClient, id, 1);
      expect(invitedAt(secondCall.phoneCall)).toBeGreaterThan(leaseEnd);

      const continuedAt = performance.now();
      process.kill(first.pid, "SIGCONT");
      expect(await endOf(firstCall.phoneCall)).toBe("caller hung up");
      if (onLeaseLost === "exit") expect(await first.exited).toBe(LEASE_LOST);
      else expectProblem(await client.get("/v1/calls"), 503, "storage_unavailable");
      expect(firstCall.phoneCall.voice?.packets.filter(({ at }) => at >= continuedAt)).toEqual([]);
      expect(secondCall.phoneCall.end, "the call of the other server continues").toBeUndefined();
      expect(pair.phone.calls).toHaveLength(2);
      if (onLeaseLost === "exit") return;

      await second.stop();
      await until(
        async () => (await client.get(`/v1/calls/${secondCall.call.id}`)).status,
        (status) => status === 200,
        SOON_MS,
        "the first server to own the database again",
      );
      await client.waitForCall(secondCall.call.id);
      expect((await client.readCall(firstCall.call.id)).outcome?.reason).toBe("interrupted");
      await client.waitForInstance(id, "ACTIVE");
      await pair.placeCall(client, id, 2);
    });
});
