import type { StoredRecording } from "../../ports/recordings.ts";
import type { ContractRunner } from "../contract-runner.ts";
import type { Take } from "./take.ts";
import { bytesOf, readWavFile } from "./wav-file.ts";

/** Expects a recording with the written samples, or their beginning, and the right properties. */
export async function expectStored(
  expect: ContractRunner["expect"],
  stored: StoredRecording | undefined,
  { sampleRate, channels }: Pick<Take, "sampleRate" | "channels">,
  share: "all" | "beginning" = "all",
): Promise<void> {
  if (stored === undefined) throw new Error("there is no recording");
  const bytes = await bytesOf(stored);
  const { left, right, ...file } = readWavFile(bytes);
  expect(file.sampleRate).toBe(sampleRate);
  expect(stored.size).toBe(bytes.length);
  expect(Math.abs(stored.durationMs - (left.length * 1_000) / sampleRate)).toBeLessThanOrEqual(1);
  if (share === "all") expect(left.length).toBe(channels.left.length);
  else expect(left.length).toBeLessThanOrEqual(channels.left.length);
  expect(firstDifference(left, channels.left)).toBe(undefined);
  expect(firstDifference(right, channels.right)).toBe(undefined);
}

/** Index of the first sample that differs from the beginning of `others`; a short message if an expectation fails. */
function firstDifference(samples: Int16Array, expected: Int16Array): number | undefined {
  const at = samples.findIndex((sample, i) => sample !== expected[i]);
  return at < 0 ? undefined : at;
}
