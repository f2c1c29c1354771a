import { expect, test } from "vitest";
import { World } from "../support/application.ts";
import { memoryStorage } from "../support/memory-storage.ts";

test("an in-memory storage begins without the rows of a closed earlier one", async () => {
  const first = await World.start();
  const instance = await first.activeInstance();
  const { call } = await first.answeredCall(instance);
  await first.stop();

  const storage = memoryStorage();
  await storage.open({ exclusive: true });
  expect(await storage.calls.get(call.id)).toBeUndefined();
  expect(await storage.instances.get(instance.id)).toBeUndefined();
  expect(await storage.events.ofCall(call.id, {})).toEqual([]);
  expect(await storage.events.newestId()).toBeUndefined();
  await storage.close();
});

test("a closed in-memory storage refuses work, and begins empty when opened again", async () => {
  const storage = memoryStorage();
  await storage.open({ exclusive: true });
  await storage.close();
  await expect(storage.instances.get("inst_1")).rejects.toThrow("the storage is not open");
  const second = memoryStorage();
  await second.open({ exclusive: true });
  await storage.open({ exclusive: true });
  const world = new World({ storage: second });
  await world.app.start();
  const { id } = await world.newInstance();
  expect(await storage.instances.get(id)).toBeUndefined();
  expect(await second.instances.get(id)).toMatchObject({ id });
  await world.stop();
  await storage.close();
});
