import { describe, expect, test } from "vitest";
import type { EventPage, LogQuery } from "../../../src/application/use-cases.ts";
import { ALICE, BOB, World } from "../../support/application.ts";

/** A waiting reader and its results. */
function nextEvents(world: World, query: LogQuery, signal?: AbortSignal, principal = ALICE) {
  const result: { page?: EventPage; error?: unknown } = {};
  world.app.queries.nextEvents(principal, query, { waitMs: 10_000, signal }).then(
    (page) => Object.assign(result, { page }),
    (error) => Object.assign(result, { error }),
  );
  return result;
}

async function startedWorld() {
  const world = await World.start();
  const instance = await world.activeInstance();
  const { cursor } = await world.app.queries.events(ALICE);
  return { world, instance, cursor };
}

describe("a reader that waits for events", () => {
  test("gets the next event once stored", async () => {
    const { world, instance, cursor } = await startedWorld();
    const result = nextEvents(world, { cursor });
    await world.system.advance(9_000);
    expect(result.page).toBeUndefined();
    await world.call(instance);
    await world.system.settle();
    expect(result.page?.events.map(({ type }) => type)).toEqual(["queued"]);
    expect(result.page?.cursors).toEqual([result.page?.cursor]);
    await world.stop();
  });

  test("gets stored events immediately", async () => {
    const { world } = await startedWorld();
    const result = nextEvents(world, {});
    await world.system.settle();
    const { events } = await world.app.queries.events(ALICE);
    expect(result.page?.events).toEqual(events);
    await world.stop();
  });

  test("gets an empty page after its wait time, with its own cursor", async () => {
    const { world, cursor } = await startedWorld();
    const result = nextEvents(world, { cursor });
    await world.system.advance(10_000);
    expect(result.page).toMatchObject({ events: [], cursor });
    await world.stop();
  });

  test("misses no event stored while reading", async () => {
    const { world, instance, cursor } = await startedWorld();
    let release = () => {};
    world.storage.before = (operation) => {
      if (operation !== "events.ofUser") return;
      world.storage.before = () => {};
      return new Promise<void>((resolve) => {
        release = resolve;
      });
    };
    const result = nextEvents(world, { cursor });
    await world.system.settle();
    await world.call(instance);
    release();
    await world.system.settle();
    expect(result.page?.events[0]?.type).toBe("queued");
    await world.stop();
  });

  test("sleeps while only other users call", async () => {
    const { world, cursor } = await startedWorld();
    const result = nextEvents(world, { cursor });
    await world.call(await world.activeInstance(BOB), undefined, BOB);
    await world.system.settle();
    expect(result).toEqual({});
    await world.stop();
  });

  test("is refused when the server stops, and ends when its signal is aborted", async () => {
    const { world, cursor } = await startedWorld();
    const abort = new AbortController();
    const abortedReader = nextEvents(world, { cursor }, abort.signal);
    const stoppedReader = nextEvents(world, { cursor });
    abort.abort();
    await world.system.settle();
    expect(abortedReader.page?.events).toEqual([]);
    expect(stoppedReader).toEqual({});
    await world.stop();
    await world.system.settle();
    expect(stoppedReader.error).toMatchObject({ code: "stopping" });
  });
});
