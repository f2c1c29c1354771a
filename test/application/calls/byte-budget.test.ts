import { describe, expect, test } from "vitest";
import type { Principal } from "../../../src/domain/access/principal.ts";
import { ALICE, BOB, NUMBER, World } from "../../support/application.ts";

const KIB = 1024;

function create(world: World, principal: Principal, instanceId: string, idempotencyKey?: string) {
  const input = {
    instanceId,
    type: "DYNAMIC_STREAM",
    target: { phoneNumber: NUMBER },
    metadata: { text: "x".repeat(8 * KIB) },
  } as const;
  return world.app.calls.create(principal, input, { idempotencyKey });
}

/** Creates calls and ends them until one is refused; returns their number and the refusal. */
async function createUntilRefused(world: World, principal: Principal, instanceId: string) {
  for (let callCount = 0; callCount < 100; callCount++)
    try {
      const { id } = await create(world, principal, instanceId, `key-${callCount}`);
      await world.app.calls.hangUp(principal, id);
    } catch (refusal) {
      return { callCount, refusal };
    }
  throw new Error("no call was refused");
}

describe("a user's stored data", () => {
  test("is limited, and the limit of a demo token's instance leaves room for its user", async () => {
    const limits = { storedBytesPerUser: 400 * KIB, storedBytesPerDemoInstance: 100 * KIB };
    const world = await World.start({ limits });
    const { id } = await world.newInstance();
    const demo: Principal = { ...ALICE, demoInstanceId: id };
    const first = await createUntilRefused(world, demo, id);
    expect(first.callCount).toBeGreaterThan(5);
    expect(first.callCount).toBeLessThan(13);
    expect(first.refusal).toMatchObject({
      code: "storage_quota",
      message: expect.stringMatching(/^the demo tokens of this instance have stored 0\.\d MiB, and .* 0\.1 MiB$/),
    });
    expect(await world.storage.retention.storedBytes(id)).toBeLessThan(110 * KIB);
    const { callCount, refusal } = await createUntilRefused(world, ALICE, id);
    expect(callCount).toBeGreaterThan(first.callCount);
    expect(refusal).toMatchObject({ code: "storage_quota", message: expect.stringMatching(/^you have stored/) });
    await expect(
      world.app.instances.create(ALICE, { name: "Desk", metadata: { text: "x".repeat(16_000) } }),
    ).rejects.toMatchObject({
      code: "storage_quota",
    });
    const bobsInstance = await world.newInstance(BOB);
    expect(await create(world, BOB, bobsInstance.id)).toMatchObject({ created: true });
    await world.stop();
  });

  test("grows only with creations, whatever the key", async () => {
    const world = await World.start();
    const { id } = await world.newInstance();
    const demo: Principal = { ...ALICE, demoInstanceId: id };
    const { id: callId } = await create(world, demo, id, "first");
    const before = await world.storage.retention.storedBytes(ALICE.userId);
    for (let i = 0; i < 20; i++) expect(await create(world, demo, id, `key-${i}`)).toMatchObject({ id: callId });
    expect(await world.storage.retention.storedBytes(ALICE.userId)).toBe(before);
    expect(await world.storage.receipts.forget(Number.MAX_SAFE_INTEGER)).toBe(1);
    await world.stop();
  });
});
