import { type FileHandle, readdir, readFile, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { wavRecordings } from "../../../adapters/recordings/wav-recordings.ts";
import type { IncompleteReason } from "../../../src/domain/events.ts";
import type { StoredRecording } from "../../../src/ports/recordings.ts";
import { fullDisk } from "../../support/full-disk.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const RATE = 8_000;
const ID = "call_01jbqq0000e8m8xq5w2m0v6y1k";
const failIfIncomplete = (reason: IncompleteReason) => {
  throw new Error(`the recording stopped: ${reason}`);
};

/** Samples that count up from `first`. */
const countingSamples = (first: number, samples: number) =>
  Int16Array.from({ length: samples }, (_, i) => (first + i) % 30_000);

async function bytesOf(recording: StoredRecording | undefined, from?: number, to?: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  if (recording) for await (const piece of recording.bytes(from, to)) pieces.push(piece);
  return Uint8Array.from(Buffer.concat(pieces));
}

/** Samples of a two-channel WAV file, read according to its header. */
function channelsOf(file: Uint8Array): { left: number[]; right: number[]; sampleRate: number } {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  expect([view.getUint16(22, true), view.getUint16(34, true)]).toEqual([2, 16]);
  const [left, right] = [[] as number[], [] as number[]];
  for (let offset = 44; offset < 44 + view.getUint32(40, true); offset += 4) {
    left.push(view.getInt16(offset, true));
    right.push(view.getInt16(offset + 2, true));
  }
  return { left, right, sampleRate: view.getUint32(24, true) };
}

test("written samples are read back, left and right, at any time", async () => {
  const recordings = wavRecordings({ folder: join(temporaryFolder("recordings"), "made when needed") });
  const writer = recordings.record(ID, RATE, failIfIncomplete);
  const writtenSamples = { left: [] as number[], right: [] as number[] };
  for (let second = 0; second < 3; second++) {
    for (let frame = 0; frame < 50; frame++) {
      const [left, right] = [
        countingSamples(writtenSamples.left.length, 160),
        countingSamples(writtenSamples.left.length + 7, 160),
      ];
      writtenSamples.left.push(...left);
      writtenSamples.right.push(...right);
      writer.write(left, right, 160);
    }
    const partialRecording = await recordings.read(ID);
    expect(partialRecording).toMatchObject({
      size: 44 + 4 * writtenSamples.left.length,
      durationMs: (second + 1) * 1_000,
    });
    expect(channelsOf(await bytesOf(partialRecording))).toEqual({ ...writtenSamples, sampleRate: RATE });
  }
  expect(writer.recordedMs).toBe(3_000);
  await writer.finish();
  await writer.finish();
  expect(channelsOf(await bytesOf(await recordings.read(ID)))).toEqual({ ...writtenSamples, sampleRate: RATE });
  await recordings.close();
});

test("a range of a recording is the same range of its file", async () => {
  const recordings = wavRecordings({ folder: temporaryFolder("recordings") });
  const writer = recordings.record(ID, RATE, failIfIncomplete);
  writer.write(countingSamples(0, 40_000), countingSamples(5, 40_000), 40_000);
  await writer.finish();
  const recording = await recordings.read(ID);
  const allBytes = await bytesOf(recording);
  expect(allBytes.length).toBe(recording?.size);
  for (const [from, to] of [
    [0, 10],
    [10, 44],
    [40, 50],
    [44, 45],
    [100_000, 160_044],
    [160_043, 160_044],
    [5, 5],
  ])
    expect(await bytesOf(recording, from, to)).toEqual(allBytes.slice(from, to));
});

test("a killed process leaves a readable file, up to its last second", async () => {
  const folder = temporaryFolder("recordings");
  const recordings = wavRecordings({ folder });
  const writer = recordings.record(ID, RATE, failIfIncomplete);
  for (let ms = 0; ms < 3_000; ms += 20) writer.write(countingSamples(ms, 160), countingSamples(ms, 160), 160);
  const path = join(folder, `${ID}.wav`);
  await expect.poll(async () => (await stat(path).catch(() => undefined))?.size ?? 0).toBeGreaterThan(44 + 2 * 32_000);
  // The recording is never finished: this is the file as a crash would leave it.
  const crashedFile = await readFile(path);
  const statedBytes = new DataView(crashedFile.buffer, crashedFile.byteOffset).getUint32(40, true);
  expect(statedBytes).toBeGreaterThanOrEqual(1_000 * 32);
  expect(statedBytes).toBeLessThanOrEqual(crashedFile.length - 44);
  // An incomplete last sample is ignored.
  await truncate(path, crashedFile.length - 3);
  const recoveredRecording = await wavRecordings({ folder }).read(ID);
  expect(recoveredRecording?.size).toBe(crashedFile.length - 4);
  expect(channelsOf(await bytesOf(recoveredRecording)).left.length * 4).toBe((recoveredRecording?.size ?? 0) - 44);
  await writer.finish();
});

describe("a disk", () => {
  test.each([
    ["ENOSPC", "disk_full"],
    ["EIO", "disk_failed"],
  ])("ends the recording if it refuses writes, and keeps earlier samples: %s", async (code, reason) => {
    const reasons: unknown[] = [];
    const recordings = wavRecordings({ folder: temporaryFolder("recordings"), open: fullDisk(70_000, code) });
    const writer = recordings.record(ID, RATE, (stopReason, fault) =>
      reasons.push(stopReason, (fault as Error).message),
    );
    const silence = new Int16Array(160);
    for (let second = 0; second < 6; second++) {
      for (let frame = 0; frame < 50; frame++) writer.write(silence, silence, 160);
      await recordings.read(ID);
    }
    expect(reasons).toEqual([reason, code]);
    expect(writer.recordedMs).toBe(2_000);
    await writer.finish();
    const recording = await recordings.read(ID);
    expect(recording?.durationMs).toBeGreaterThanOrEqual(2_000);
    expect(channelsOf(await bytesOf(recording)).left.length).toBeGreaterThanOrEqual(16_000);
  });

  test("ends the recording before memory fills up if it is slow", async () => {
    const reasons: unknown[] = [];
    const neverOpened = new Promise<FileHandle>(() => {});
    const recordings = wavRecordings({ folder: temporaryFolder("recordings"), open: () => neverOpened });
    const writer = recordings.record(ID, RATE, (stopReason) => reasons.push(stopReason));
    const silence = new Int16Array(8_000);
    for (let second = 0; second < 60; second++) writer.write(silence, silence, 8_000);
    expect(reasons).toEqual(["disk_slow"]);
    expect(writer.recordedMs).toBeLessThanOrEqual(12_000);
  });

  test("is reported if it cannot hold the folder", async () => {
    const reasons: unknown[] = [];
    const recordings = wavRecordings({ folder: "/proc/nothing/recordings" });
    const writer = recordings.record(ID, RATE, (stopReason) => reasons.push(stopReason));
    writer.write(new Int16Array(16_000), new Int16Array(16_000), 16_000);
    await writer.finish();
    expect(reasons).toEqual(["disk_failed"]);
    expect(writer.recordedMs).toBe(0);
    expect(await recordings.read(ID)).toBeUndefined();
  });
});

test("forget() deletes recordings, including unfinished ones, and no others", async () => {
  const folder = temporaryFolder("recordings");
  const recordings = wavRecordings({ folder });
  const writers = ["call_a", "call_b", "call_c"].map((id) => recordings.record(id, RATE, failIfIncomplete));
  for (const writer of writers) writer.write(countingSamples(0, 20_000), countingSamples(0, 20_000), 20_000);
  await writers[0]?.finish();
  await recordings.forget(["call_a", "call_b", "call_unknown"]);
  writers[1]?.write(countingSamples(0, 20_000), countingSamples(0, 20_000), 20_000);
  await recordings.close();
  expect(await readdir(folder)).toEqual(["call_c.wav"]);
  expect(await recordings.read("call_a")).toBeUndefined();
});

test("no id leads out of the folder", async () => {
  const folder = join(temporaryFolder("recordings"), "inner");
  const recordings = wavRecordings({ folder });
  const writer = recordings.record("../../outside", RATE, failIfIncomplete);
  writer.write(countingSamples(0, 100), countingSamples(0, 100), 100);
  await writer.finish();
  expect(await readdir(folder)).toHaveLength(1);
  expect((await recordings.read("../../outside"))?.durationMs).toBe(12.5);
});
