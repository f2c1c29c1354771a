import { describe, expect, test } from "vitest";
import { Queue } from "../../src/base/queue.ts";

async function readAll<T>(queue: Queue<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of queue) items.push(item);
  return items;
}

describe("Queue", () => {
  test("items are read in push order", async () => {
    const queue = new Queue<number>();
    queue.push(1);
    const pendingItems = readAll(queue);
    queue.push(2);
    await Promise.resolve();
    queue.push(3);
    queue.close();
    expect(await pendingItems).toEqual([1, 2, 3]);
  });

  test("undefined is an item like any other", async () => {
    const queue = new Queue<undefined>();
    queue.push(undefined);
    queue.close();
    expect(await readAll(queue)).toEqual([undefined]);
  });

  test("items pushed after the end are dropped", async () => {
    const queue = new Queue<number>();
    queue.close();
    queue.push(1);
    expect(queue.isClosed).toBe(true);
    expect(await readAll(queue)).toEqual([]);
  });

  test("a failure is thrown after earlier items", async () => {
    const queue = new Queue<number>();
    queue.push(1);
    queue.fail(new Error("the worker died"));
    const reader = queue[Symbol.asyncIterator]();
    expect(await reader.next()).toEqual({ done: false, value: 1 });
    await expect(reader.next()).rejects.toThrow("the worker died");
  });

  test("a failure after the end is ignored", async () => {
    const queue = new Queue<number>();
    queue.close();
    queue.fail(new Error("the worker died"));
    expect(await readAll(queue)).toEqual([]);
  });
});
