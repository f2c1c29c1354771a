import { describe, expect, test } from "vitest";
import type { EventPage, LogQuery } from "../../../src/application/use-cases.ts";
import { ALICE, BOB, World } from "../../support/application.ts";

/** A waiting reader and its results. */
function waiting(world: World, query: LogQuery, signal?: AbortSignal, principal = ALICE) {
  const got: { page?: EventPage; error?: unknown } = {};
  world.app.queries.nextEvents(principal, query, { waitMs: 10_000, signal }).then(
    (page) => Object.assign(got, { page }),
    (error) => Object.assign(got, { error }),
  );
  return got;
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
    const got = waiting(world, { cursor });
    await world.system.advance(9_000);
    expect(got.page).toBeUndefined();
    await world.call(instance);
    await world.system.settle();
    expect(got.page?.events.map(({ type }) => type)).toEqual(["queued"]);
    expect(got.page?.cursors).toEqual([got.page?.cursor]);
    await world.stop();
  });

  test("gets stored events immediately", async () => {
    const { world } = await startedWorld();
    const got = waiting(world, {});
    await world.system.settle();
    const { events } = await world.app.queries.events(ALICE);
    expect(got.page?.events).toEqual(events);
    await world.stop();
  });

  test("gets an empty page after its time, with its own cursor", async () => {
    const { world, cursor } = await startedWorld();
    const got = waiting(world, { cursor });
    await world.system.advance(10_000);
    expect(got.page).toMatchObject({ events: [], cursor });
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
    const got = waiting(world, { cursor });
    await world.system.settle();
    await world.call(instance);
    release();
    await world.system.settle();
    expect(got.page?.events[0]?.type).toBe("queued");
    await world.stop();
  });

  test("sleeps while only other users call", async () => {
    const { world, cursor } = await startedWorld();
    const got = waiting(world, { cursor });
    await world.call(await world.activeInstance(BOB), undefined, BOB);
    await world.system.settle();
    expect(got).toEqual({});
    await world.stop();
  });

  test("is refused when the server stops, and ends when its signal is aborted", async () => {
    const { world, cursor } = await startedWorld();
    const abort = new AbortController();
    const ended = waiting(world, { cursor }, abort.signal);
    const stopped = waiting(world, { cursor });
    abort.abort();
    await world.system.settle();
    expect(ended.page?.events).toEqual([]);
    expect(stopped).toEqual({});
    await world.stop();
    await world.system.settle();
    expect(stopped.error).toMatchObject({ code: "stopping" });
  });
});
