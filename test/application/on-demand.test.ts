import { describe, expect, test } from "vitest";
import { onDemand } from "../../src/application/use-cases-on-demand.ts";

class Counter {
  #count = 0;

  async add(by: number): Promise<number> {
    this.#count += by;
    return this.#count;
  }
}

describe("methods on demand", () => {
  test("belong to what is asked for at each use", async () => {
    const counters = [new Counter(), new Counter()];
    let asked = 0;
    const counter = onDemand<Counter>(async () => counters[asked++ % 2]!);
    expect(asked).toBe(0);
    expect([await counter.add(1), await counter.add(2), await counter.add(4)]).toEqual([1, 2, 5]);
    expect(asked).toBe(3);
  });

  test("pass on why there is nothing to ask, and that there is no such method", async () => {
    const stopped = onDemand<Counter>(() => Promise.reject(new Error("this Ringport was stopped")));
    await expect(stopped.add(1)).rejects.toThrow("this Ringport was stopped");
    const counter = onDemand<Counter & { subtract(): Promise<number> }>(async () => new Counter() as never);
    await expect(counter.subtract()).rejects.toThrow(TypeError);
  });

  test("can be awaited and returned from an async function like any object", async () => {
    const counter = onDemand<Counter>(async () => new Counter());
    expect(await (async () => counter)()).toBe(counter);
  });
});
