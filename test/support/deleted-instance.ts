import { expect } from "vitest";
import type { Instance } from "../../src/domain/instances/instance.ts";
import { ALICE, type World } from "./application.ts";

/**
 * Invariants of a completely deleted instance: its calls have ended, its device is unlinked, its credentials are
 * deleted, its line is closed, and it reads as not found.
 * @param unlinked false: the network could not unlink the device
 */
export async function expectDeleted(
  { app, network, storage }: World,
  { id }: Instance,
  { unlinked = true }: { unlinked?: boolean } = {},
): Promise<void> {
  const liveLegs = network.legs.filter((leg) => leg.instanceId === id && leg.live && leg.hangUps === 0);
  expect(liveLegs, "no leg is live").toEqual([]);
  expect(await storage.calls.active(id), "its calls are ended").toEqual([]);
  expect(network.devices.has(id), "its device is linked").toBe(!unlinked);
  expect(await storage.instances.loadCredentials(id), "its credentials").toBeUndefined();
  const openLines = network.lines.filter((line) => line.instance.id === id && !line.closed);
  expect(openLines, "its line is closed").toEqual([]);
  await expect(app.instances.get(ALICE, id)).rejects.toMatchObject({ code: "instance_not_found" });
  expect((await app.instances.list(ALICE)).map((instance) => instance.id)).not.toContain(id);
  expect(await storage.instances.get(id)).toMatchObject({
    status: "DELETED",
    phone: null,
    erasedAt: expect.any(Number),
  });
}
