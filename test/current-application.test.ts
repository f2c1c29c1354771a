import { describe, expect, test } from "vitest";
import { type ApplicationSource, currentApplication, methodsOf } from "../src/current-application.ts";
import { silentLogger } from "../src/ports/logger.ts";
import { requestOf } from "./http/support/ask.ts";

class Counter {
  #count = 0;

  async add(by: number): Promise<number> {
    this.#count += by;
    return this.#count;
  }
}

describe("the methods of a class", () => {
  test("run on the current object", async () => {
    const counters = [new Counter(), new Counter()];
    let requestCount = 0;
    const counter = methodsOf(Counter, async () => counters[requestCount++ % 2]!);
    expect(requestCount).toBe(0);
    expect([await counter.add(1), await counter.add(2), await counter.add(4)]).toEqual([1, 2, 5]);
    expect(requestCount).toBe(3);
  });

  test("pass on the reason for a missing object", async () => {
    const stopped = methodsOf(Counter, () => Promise.reject(new Error("this Ringport was stopped")));
    await expect(stopped.add(1)).rejects.toThrow("this Ringport was stopped");
  });

  test("are an object that can be awaited, spread, and written as JSON", async () => {
    let requestCount = 0;
    const get = async (): Promise<Counter> => {
      requestCount++;
      return new Counter();
    };
    const counter = methodsOf(Counter, get);
    expect(await (async () => counter)()).toBe(counter);
    expect(JSON.stringify(counter)).toBe("{}");
    expect(requestCount).toBe(0);
    expect(await { ...counter }.add(3)).toBe(3);
  });
});

describe("the interface of a Ringport that is not running", () => {
  const notRunning = (absence: ApplicationSource["absence"]) => {
    const use = () => Promise.reject(new Error("it does not run"));
    return currentApplication({ current: undefined, absence, use }, { basePath: "/api", log: silentLogger });
  };

  test("returns 503 to every request", async () => {
    for (const code of ["stopping", "not_ready"] as const) {
      const app = notRunning(code);
      const reply = await app.handle(requestOf({ path: "/api/v1/calls", token: null }));
      expect(reply.status).toBe(503);
      expect(JSON.parse(String(reply.body))).toMatchObject({ code, type: `/api/docs/errors#${code}` });
      expect(reply.headers["retry-after"]).toBeDefined();
      expect((await app.fetch(new Request("http://h/healthz"))).status).toBe(503);
      expect(await app.upgrade(requestOf({ path: "/x" }))).toHaveProperty("status", 503);
    }
  });

  test("claims only its own paths", async () => {
    const app = notRunning("not_ready");
    const claims = (path: string) => app.claims({ url: `http://h${path}` });
    expect([await claims("/api/v1/calls"), await claims("/users")]).toEqual([true, false]);
  });

  test("rejects use cases with the reason", async () => {
    await expect(notRunning("not_ready").voices()).rejects.toThrow("it does not run");
    await expect(
      notRunning("not_ready").calls.events({ userId: "usr_a" }, "call_a")[Symbol.asyncIterator]().next(),
    ).rejects.toThrow("it does not run");
  });
});
