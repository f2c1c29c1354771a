import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Demand, FairTurns } from "../../../../src/application/call-audio/speech/fair-turns.ts";
import { nextTurn } from "../../../../src/base/turn-budget.ts";
import { ManualSystem } from "../../../../src/testing/manual-system.ts";
import { fuzz } from "../../../support/fuzz.ts";

const neverAborted = new AbortController().signal;
const demand = (name: string, state: Partial<Demand> = {}): Demand => ({
  userId: name.slice(0, 1),
  instanceId: name,
  isPlaying: false,
  aheadMs: 0,
  ...state,
});

/** Requests a turn for each name at once; returns the order in which they were served. */
async function servingOrder(demands: readonly Demand[], system = new ManualSystem()): Promise<string[]> {
  const turns = new FairTurns(system, 1);
  const currentTurn = await turns.take(demand("first"), neverAborted);
  const servedNames: string[] = [];
  const allTurns = demands.map(async (entry) => {
    const end = await turns.take(entry, neverAborted);
    servedNames.push(entry.instanceId);
    await system.settle();
    end();
  });
  await system.advance(1_000);
  currentTurn();
  await Promise.all(allTurns);
  return servedNames;
}

describe("turns", () => {
  test("rotate among users, and among each user's instances", async () => {
    const names = ["A1", "A1", "A2", "A3", "B1", "B1", "C1"];
    expect(await servingOrder(names.map((name) => demand(name)))).toEqual(["A1", "B1", "C1", "A2", "B1", "A3", "A1"]);
  });

  test("go first to answered calls short of audio", async () => {
    const aheadDemand = demand("A1", { isPlaying: true, aheadMs: 31_000 });
    const comfortableDemand = demand("B1", { isPlaying: true, aheadMs: 20_000 });
    const scarceDemand = demand("C1", { isPlaying: true, aheadMs: 4_000 });
    expect(await servingOrder([aheadDemand, comfortableDemand, demand("D1"), scarceDemand])).toEqual([
      "C1",
      "B1",
      "D1",
      "A1",
    ]);
  });

  test("prefer a user's answered call", async () => {
    expect(await servingOrder([demand("A1"), demand("A2", { isPlaying: true }), demand("B1")])).toEqual([
      "A2",
      "B1",
      "A1",
    ]);
  });

  test("skip a withdrawn demand", async () => {
    const system = new ManualSystem();
    const turns = new FairTurns(system, 1);
    const end = await turns.take(demand("A1"), neverAborted);
    const abort = new AbortController();
    const withdrawnTurn = turns.take(demand("B1"), abort.signal);
    const next = turns.take(demand("C1"), neverAborted);
    abort.abort(new Error("hung up"));
    await expect(withdrawnTurn).rejects.toThrow("hung up");
    await expect(turns.take(demand("B1"), abort.signal)).rejects.toThrow("hung up");
    end();
    end();
    const endNext = await next;
    let isEarly = true;
    const last = turns.take(demand("D1"), neverAborted).then(() => expect(isEarly).toBe(false));
    await system.settle();
    isEarly = false;
    endNext();
    await last;
  });

  test("do not block the event loop for long if they have no work", async () => {
    const turns = new FairTurns(new ManualSystem(), 1);
    let [turnCount, loopCount] = [0, 0];
    const allTurns = Array.from({ length: 1_000 }, async (_, n) => {
      const end = await turns.take(demand(`A${n}`), neverAborted);
      turnCount++;
      end();
    });
    for (let before = -1; turnCount < 1_000; loopCount++) {
      expect(turnCount - before).toBeGreaterThan(0);
      expect(turnCount - before).toBeLessThanOrEqual(64);
      before = turnCount;
      await nextTurn();
    }
    await Promise.all(allTurns);
    expect(loopCount).toBeGreaterThan(30);
  });
});

test("turns without work yield to the event loop after about two milliseconds", async () => {
  class SlowSystem extends ManualSystem {
    elapsedMs = 0;
    override monotonic(): number {
      this.elapsedMs += 0.5;
      return this.elapsedMs;
    }
  }
  const system = new SlowSystem();
  const turns = new FairTurns(system, 1);
  const currentTurn = await turns.take(demand("first"), neverAborted);
  let turnCount = 0;
  const allTurns = Array.from({ length: 100 }, async (_, n) => {
    const end = await turns.take(demand(`A${n}`), neverAborted);
    turnCount++;
    end();
  });
  await nextTurn();
  currentTurn();
  for (let before = 0; turnCount < 100; before = turnCount) {
    await nextTurn();
    expect(turnCount - before).toBeLessThanOrEqual(8);
  }
  await Promise.all(allTurns);
});

test("thousands of waiting calls take their turns in time", async () => {
  const system = new ManualSystem();
  const turns = new FairTurns(system, 1);
  let looks = 0;
  class CountedDemand implements Demand {
    readonly userId = "A";
    readonly aheadMs = 0;
    readonly isSteady = true;
    readonly instanceId: string;
    constructor(instanceId: string) {
      this.instanceId = instanceId;
    }
    get isPlaying(): boolean {
      looks++;
      return false;
    }
  }
  const servedIds: string[] = [];
  const allTurns = Array.from({ length: 2_000 }, async (_, n) => {
    const end = await turns.take(new CountedDemand(`${n}`), neverAborted);
    servedIds.push(`${n}`);
    end();
  });
  await Promise.all(allTurns);
  expect(servedIds).toEqual(Array.from({ length: 2_000 }, (_, n) => `${n}`));
  expect(looks).toBeLessThanOrEqual(4_000);
});

const arrivals = fc.array(
  fc.record({
    user: fc.constantFrom("A", "B", "C"),
    instance: fc.nat(4),
    isPlaying: fc.constantFrom(false, false, false, true),
    aheadMs: fc.constantFrom(0, 0, 20_000, 40_000),
    at: fc.nat(20),
    workMs: fc.nat(3),
    withdrawnAt: fc.option(fc.nat(30), { freq: 8 }),
  }),
  { maxLength: 40 },
);

/** The order in which demands are served, one at a time. */
async function arrivalOrder(samples: typeof arrivals extends fc.Arbitrary<infer S> ? S : never, isSteady: boolean) {
  const system = new ManualSystem();
  system.settle = async () => {
    await nextTurn();
  };
  const pause = (ms: number) => new Promise<void>((resolve) => void system.after(ms, resolve));
  const turns = new FairTurns(system, 1);
  const served: number[] = [];
  const allTurns = samples.map(async ({ user, instance, at, workMs, withdrawnAt, isPlaying, aheadMs }, index) => {
    const abort = new AbortController();
    if (withdrawnAt !== null) void pause(withdrawnAt).then(() => abort.abort(new Error("hung up")));
    await pause(at);
    const state = { userId: user, instanceId: `${user}${instance}`, isPlaying, aheadMs };
    const end = await turns.take({ ...state, isSteady }, abort.signal).catch(() => undefined);
    if (!end) return;
    served.push(index);
    await pause(workMs);
    end();
  });
  await Promise.all([...allTurns, system.advance(1_000)]);
  return served;
}

fuzz(
  "the order of turns does not depend on whether their urgency may change",
  fc.asyncProperty(arrivals, async (samples) => {
    expect(await arrivalOrder(samples, true)).toEqual(await arrivalOrder(samples, false));
  }),
);

const SLICE_MS = 500;
const LONG_WAIT_MS = 2_000;

const calls = fc.array(
  fc.record({
    user: fc.constantFrom("A", "B", "C", "D"),
    instance: fc.nat(5),
    playing: fc.boolean(),
    aheadMs: fc.constantFrom(0, 4_000, 20_000),
    slices: fc.integer({ min: 1, max: 12 }),
    beginsAt: fc.nat(3_000),
    pauseMs: fc.constantFrom(0, 0, 100),
    isSteady: fc.boolean(),
  }),
  { minLength: 1, maxLength: 30 },
);

fuzz(
  "no user waits longer than two seconds plus a slice for every other user",
  fc.asyncProperty(calls, fc.integer({ min: 1, max: 3 }), async (callSamples, capacity) => {
    const system = new ManualSystem();
    system.settle = async () => {
      await nextTurn();
    };
    const pause = (ms: number) => new Promise<void>((resolve) => void system.after(ms, resolve));
    const turns = new FairTurns(system, capacity);
    const users = new Set(callSamples.map(({ user }) => user)).size;
    /** Waiting time since the last turn, by user. */
    const waitingSince = new Map<string, { waitingCount: number; since: number }>();
    let [workingCount, longestWait] = [0, 0];
    await Promise.all([
      ...callSamples.map(async ({ user, instance, playing, aheadMs, slices, beginsAt, pauseMs, isSteady }) => {
        await pause(beginsAt);
        for (let slice = 0; slice < slices; slice++) {
          const state = waitingSince.get(user) ?? { waitingCount: 0, since: 0 };
          waitingSince.set(user, state);
          if (state.waitingCount++ === 0) state.since = system.monotonic();
          const end = await turns.take(
            { userId: user, instanceId: `${user}${instance}`, isPlaying: playing, aheadMs, isSteady },
            neverAborted,
          );
          longestWait = Math.max(longestWait, system.monotonic() - state.since);
          state.waitingCount--;
          state.since = system.monotonic();
          expect(++workingCount).toBeLessThanOrEqual(capacity);
          await pause(SLICE_MS);
          workingCount--;
          end();
          await pause(pauseMs);
        }
      }),
      system.advance(1_000_000),
    ]);
    expect(longestWait).toBeLessThanOrEqual(LONG_WAIT_MS + users * SLICE_MS);
  }),
);
