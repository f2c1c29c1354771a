import { expect, test } from "vitest";
import { QueueWatch } from "../../../../src/application/call-audio/streams/queue-watch.ts";

const watch = () => new QueueWatch(() => {});

test("a writer waits until its audio fits into a minute", async () => {
  const queue = watch();
  expect(queue.waitForRoom(5_000, 54_000)).toBeUndefined();
  expect(queue.isActive).toBe(false);
  const continuedWriters: string[] = [];
  void queue.waitForRoom(40_000, 25_000)?.then(() => continuedWriters.push("long"));
  void queue.waitForRoom(5_000, 58_000)?.then(() => continuedWriters.push("short"));
  expect(queue.isActive).toBe(true);
  queue.check(55_500);
  await Promise.resolve();
  expect(continuedWriters).toEqual([]);
  queue.check(54_000);
  await Promise.resolve();
  expect(continuedWriters).toEqual(["short"]);
  queue.check(19_000);
  await Promise.resolve();
  expect(continuedWriters).toEqual(["short", "long"]);
  queue.check(14_000);
  expect(queue.isActive).toBe(false);
});

test("an empty queue has room for any length, and a release lets every writer continue", async () => {
  const queue = watch();
  expect(queue.waitForRoom(100_000, 0)).toBeUndefined();
  const whenReleased = queue.waitForRoom(5_000, 59_000);
  queue.release();
  await whenReleased;
  expect(queue.isActive).toBe(false);
});
