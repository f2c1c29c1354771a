import { expect, test } from "vitest";
import { resampleStream } from "../../src/audio/samples/resample-stream.ts";
import { nextTurn, TurnBudget } from "../../src/base/turn-budget.ts";

test("work within the budget starts immediately", () => {
  const budget = new TurnBudget(10);
  expect([budget.take(4), budget.take(6)]).toEqual([undefined, undefined]);
});

test("work beyond the budget starts in later turns, in order", async () => {
  const budget = new TurnBudget(10);
  const startedNames: string[] = [];
  const work = async (name: string, cost: number): Promise<void> => {
    await budget.take(cost);
    startedNames.push(name);
  };
  void Promise.all([work("a", 8), work("b", 8), work("c", 3), work("d", 2), work("e", 20), work("f", 1)]);
  const snapshots = new Set<string>();
  while (startedNames.length < 6) {
    await Promise.resolve();
    snapshots.add(startedNames.join(""));
    await nextTurn();
  }
  expect([...snapshots, startedNames.join("")]).toEqual(["a", "ab", "abcd", "abcde", "abcdef"]);
});

test("many streams with long pieces share the turns of the event loop", async () => {
  const [streams, seconds] = [5, 20];
  const convert = async (): Promise<number> => {
    const chunks = (async function* () {
      yield { samples: new Int16Array(24_000 * seconds), sampleRate: 24_000 };
    })();
    let convertedCount = 0;
    for await (const samples of resampleStream(chunks, 8_000)) convertedCount += samples.length;
    return convertedCount;
  };
  let turns = 0;
  let lengths: number[] | undefined;
  void Promise.all(Array.from({ length: streams }, convert)).then((results) => {
    lengths = results;
  });
  while (lengths === undefined) {
    await nextTurn();
    turns++;
  }
  expect(lengths).toEqual(Array(streams).fill(8_000 * seconds));
  // One second of audio per turn.
  expect(turns).toBeGreaterThanOrEqual(streams * seconds);
});
