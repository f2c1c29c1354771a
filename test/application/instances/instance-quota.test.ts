import { expect, test } from "vitest";
import { ALICE, BOB, World } from "../../support/application.ts";

test("a user creates as many instances as the limit allows, even concurrently", async () => {
  const world = await World.start({ limits: { instancesPerUser: 3 } });
  const create = (user = ALICE, key?: string) =>
    world.app.instances.create(user, { name: "Desk" }, key === undefined ? {} : { idempotencyKey: key });
  const results = await Promise.allSettled(Array.from({ length: 8 }, () => create()));
  const refusals = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  expect(refusals).toHaveLength(5);
  for (const reason of refusals)
    expect(reason).toMatchObject({ code: "instance_quota", message: expect.stringContaining("3 instances") });
  expect(await world.app.instances.list(ALICE)).toHaveLength(3);
  expect(await create(BOB)).toMatchObject({ created: true });
  await world.stop();
});

test("a deleted instance makes room for another; the refused key can be reused", async () => {
  const world = await World.start({ limits: { instancesPerUser: 1 } });
  const create = () => world.app.instances.create(ALICE, { name: "Desk" }, { idempotencyKey: "k" });
  const first = await world.app.instances.create(ALICE, { name: "Desk" });
  await expect(create()).rejects.toMatchObject({ code: "instance_quota" });
  await world.app.instances.delete(ALICE, first.id);
  expect(await create()).toMatchObject({ created: true, replayed: false });
  await world.stop();
});
