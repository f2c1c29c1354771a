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
    const counter = onDemand<Counter>(async () => counters[asked++ % 2]!, { add: 1 });
    expect(asked).toBe(0);
    expect([await counter.add(1), await counter.add(2), await counter.add(4)]).toEqual([1, 2, 5]);
    expect(asked).toBe(3);
  });

  test("pass on why there is nothing to ask", async () => {
    const stopped = onDemand<Counter>(() => Promise.reject(new Error("this Ringport was stopped")), { add: 1 });
    await expect(stopped.add(1)).rejects.toThrow("this Ringport was stopped");
  });

  test("are an object that can be awaited, spread, and written as JSON", async () => {
    let asked = 0;
    const get = async (): Promise<Counter> => {
      asked++;
      return new Counter();
    };
    const counter = onDemand<Pick<Counter, "add">>(get, { add: 1 });
    expect(await (async () => counter)()).toBe(counter);
    expect(JSON.stringify(counter)).toBe("{}");
    expect(asked).toBe(0);
    expect(await { ...counter }.add(3)).toBe(3);
  });
});
