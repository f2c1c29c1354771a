import type { StoredRecording } from "../../ports/recordings.ts";
import type { ContractRunner } from "../contract-runner.ts";
import type { Take } from "./take.ts";
import { bytesOf, readWavFile } from "./wav-file.ts";

/** Expects a recording with the written samples, or their beginning, and the right properties. */
export async function expectStored(
  expect: ContractRunner["expect"],
  recording: StoredRecording | undefined,
  { sampleRate, channels }: Pick<Take, "sampleRate" | "channels">,
  share: "all" | "beginning" = "all",
): Promise<void> {
  if (recording === undefined) throw new Error("there is no recording");
  const bytes = await bytesOf(recording);
  const { left, right, ...file } = readWavFile(bytes);
  expect(file.sampleRate).toBe(sampleRate);
  expect(recording.size).toBe(bytes.length);
  expect(Math.abs(recording.durationMs - (left.length * 1_000) / sampleRate)).toBeLessThanOrEqual(1);
  if (share === "all") expect(left.length).toBe(channels.left.length);
  else expect(left.length).toBeLessThanOrEqual(channels.left.length);
  expect(firstDifference(left, channels.left)).toBe(undefined);
  expect(firstDifference(right, channels.right)).toBe(undefined);
}

/** Index of the first sample that differs; comparing it keeps the message of a failed expectation short. */
function firstDifference(samples: Int16Array, expected: Int16Array): number | undefined {
  const at = samples.findIndex((sample, i) => sample !== expected[i]);
  return at < 0 ? undefined : at;
}
