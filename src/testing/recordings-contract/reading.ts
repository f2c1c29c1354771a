import type { ContractRunner } from "../contract-runner.ts";
import type { RecordingsClause } from "../recordings-contract.ts";
import { expectStored } from "./expect-stored.ts";
import { Take } from "./take.ts";
import { bytesOf } from "./wav-file.ts";

/** Recordings can be read at any time, whole or in part. */
export function readingContract(clause: RecordingsClause, expect: ContractRunner["expect"]): void {
  clause("returns undefined for a call without a recording", async ({ recordings }) => {
    new Take(recordings, "call_1").write(100);
    expect(await recordings.read("call_2")).toBe(undefined);
  });

  clause("can be read while it grows", async ({ recordings }) => {
    const take = new Take(recordings, "call_1");
    for (const ms of [20, 980, 1_700]) {
      take.write(ms);
      await expectStored(expect, await recordings.read("call_1"), take);
    }
    await take.writer.finish();
    await expectStored(expect, await recordings.read("call_1"), take);
  });

  clause("reads a consistent length while the recording grows", async ({ recordings }) => {
    const take = new Take(recordings, "call_1");
    take.write(1_500);
    const recording = await recordings.read("call_1");
    const { sampleRate, channels } = take;
    take.write(1_500);
    await take.writer.finish();
    await expectStored(expect, recording, { sampleRate, channels });
  });

  clause("can be read in part, from one byte up to another", async ({ recordings }) => {
    const take = new Take(recordings, "call_1");
    take.write(5_000);
    await take.writer.finish();
    const recording = await recordings.read("call_1");
    if (recording === undefined) throw new Error("there is no recording");
    const allBytes = await bytesOf(recording);
    const { size } = recording;
    for (const [from, to] of [
      [0, 1],
      [0, 44],
      [43, 45],
      [40, 100],
      [45, 46],
      [1_001, 90_003],
      [70_000, size],
      [size - 1, size],
      [5, 5],
    ] as const)
      expect(sameBytes(await bytesOf(recording, from, to), allBytes.subarray(from, to))).toBe(true);
    expect(sameBytes(await bytesOf(recording, 1_001), allBytes.subarray(1_001))).toBe(true);
  });
}

function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, i) => byte === right[i]);
}
