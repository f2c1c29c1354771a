import { describe, expect, test } from "vitest";
import { describeEach, ON_NODE, ON_POSTGRES, useServer } from "../support/server.ts";
import { expected } from "../support/server-client.ts";
import { send } from "../support/server-http.ts";

/** Number of kills, each at another step of the deletion. */
const DELETION_COUNT = 6;
/** Number of kills at the same step. */
const LINK_COUNT = 3;

describeEach([ON_NODE, ON_POSTGRES], (target) => {
  const server = useServer(target);

  describe("a server killed with -9", () => {
    test("a kill right after a confirmed link keeps the number linked", { timeout: 120_000 }, async () => {
      for (let round = 0; round < LINK_COUNT; round++) {
        const client = await server.as("ada");
        const { id } = await client.createInstance(`Desk ${round}`);
        const page = await client.linkUrl(id);
        expected(200, await send("POST", page));
        await server.kill9();
        await server.start();
        await (await server.as("ada")).waitForInstance(id, "ACTIVE");
      }
    });

    test("a kill during a deletion leaves it undone, or finished later", { timeout: 120_000 }, async () => {
      let deletedCount = 0;
      for (let round = 0; round < DELETION_COUNT; round++) {
        const client = await server.as("ada");
        const { id } = await client.activeInstance(`Desk ${round}`);
        const call = await client.call(id);
        const deletion = client.delete(`/v1/instances/${id}`).catch(() => undefined);
        // In the last round the kill follows the response.
        const delay = new Promise((resolve) => setTimeout(resolve, round * 4));
        await (round === DELETION_COUNT - 1 ? deletion : delay);
        await server.kill9();
        const response = await deletion;
        await server.start();
        const newClient = await server.as("ada");
        const { status } = await newClient.get(`/v1/instances/${id}`);
        if (response) expect(response.status).toBe(204);
        expect([200, 404]).toContain(status);
        if (response) expect(status).toBe(404);
        if (status === 404) {
          deletedCount++;
          await newClient.waitForCall(call.id, ["FAILED"]);
        } else expected(204, await newClient.delete(`/v1/instances/${id}`));
        const row = async () => (await server.rows()).instances?.find((instance) => instance.id === id);
        await expect.poll(async () => (await row())?.erased_at, { timeout: 10_000 }).not.toBeNull();
        const { credentials } = await server.rows();
        expect(credentials?.map(({ instance_id }) => instance_id)).not.toContain(id);
      }
      expect(deletedCount).toBeGreaterThan(0);
    });
  });
});
