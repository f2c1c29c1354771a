import { expect, test } from "vitest";
import { copyInTurns } from "../../src/audio/copy-in-turns.ts";

const FILE = Uint8Array.from({ length: 10 * 2 ** 20 + 7 }, (_, at) => Math.imul(at, 2_654_435_761) >>> 13);

test("copying a large file lets the event loop turn and yields a new buffer", async () => {
  let turns = 0;
  const turn = (): void => {
    turns++;
    next = setImmediate(turn);
  };
  let next = setImmediate(turn);
  const copy = await copyInTurns(FILE.subarray(1));
  clearImmediate(next);
  expect(turns).toBeGreaterThanOrEqual(10);
  expect(Buffer.compare(new Uint8Array(copy), FILE.subarray(1))).toBe(0);
  expect(copy.byteLength).toBe(FILE.length - 1);
});

test("the copy of an empty buffer is empty", async () => {
  expect((await copyInTurns(new Uint8Array())).byteLength).toBe(0);
});
