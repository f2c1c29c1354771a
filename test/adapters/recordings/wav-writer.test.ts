import { readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SampleBuffers } from "../../../adapters/audio/sample-buffers.ts";
import { WavWriter, type WavWriterOptions } from "../../../adapters/recordings/wav-writer.ts";
import { decodeWav } from "../../../src/audio/wav/wav.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const BUFFER_SAMPLES = 7_680;
const MAX_WAITING = 17;

const noise = (samples: number): Int16Array => Int16Array.from({ length: samples }, (_, i) => (i * 7_919) % 30_000);

/** Opens a one-channel writer, and collects the reasons why it stopped. */
function openWriter(path: string, options: Partial<WavWriterOptions> = {}): { writer: WavWriter; reasons: string[] } {
  const reasons: string[] = [];
  const writer = new WavWriter({
    path,
    sampleRate: 16_000,
    channels: 1,
    buffers: new SampleBuffers(BUFFER_SAMPLES, 1),
    maxWaiting: MAX_WAITING,
    stagger: 1,
    onIncomplete: (reason) => reasons.push(reason),
    ...options,
  });
  return { writer, reasons };
}

describe("a WAV writer", () => {
  test("writes both channels in pairs, and its length at the end", async () => {
    const path = join(temporaryFolder("wav"), "both.wav");
    const { writer, reasons } = openWriter(path, { channels: 2, stagger: 0.1 });
    const [left, right] = [noise(20_000), noise(20_000).reverse()];
    for (let offset = 0; offset < left.length; offset += 320)
      writer.write(
        left.subarray(offset, offset + 320),
        right.subarray(offset, offset + 320),
        Math.min(320, left.length - offset),
      );
    expect(writer.recordedMs).toBe(1_250);
    await writer.finish();
    const file = await readFile(path);
    const samples = new Int16Array(file.buffer.slice(file.byteOffset + 44, file.byteOffset + file.length));
    expect(samples.filter((_, at) => at % 2 === 0)).toEqual(left);
    expect(samples.filter((_, at) => at % 2 === 1)).toEqual(right);
    expect(file.readUInt32LE(40)).toBe(80_000);
    expect(reasons).toEqual([]);
  });

  test("leaves the length open until the end, unless its header is live", async () => {
    const folder = temporaryFolder("wav");
    for (const liveHeader of [false, true]) {
      const path = join(folder, `${liveHeader}.wav`);
      const { writer } = openWriter(path, { liveHeader });
      writer.write(noise(1_000), undefined, 1_000);
      await writer.flush();
      expect((await readFile(path)).readUInt32LE(40)).toBe(liveHeader ? 2_000 : 0xffffffff);
      await writer.finish();
      expect((await readFile(path)).readUInt32LE(40)).toBe(2_000);
    }
  });

  test("stops at its maximum length, and when the disk is full", async () => {
    const folder = temporaryFolder("wav");
    const limitedRecording = openWriter(join(folder, "short.wav"), { maxMs: 100 });
    const rejectedRecording = openWriter(join(folder, "full.wav"), { reserve: () => false });
    for (const { writer } of [limitedRecording, rejectedRecording])
      for (let at = 0; at < 10; at++) writer.write(noise(320), undefined, 320);
    await Promise.all([limitedRecording.writer.finish(), rejectedRecording.writer.finish()]);
    expect([limitedRecording.reasons, limitedRecording.writer.recordedMs]).toEqual([["too_long"], 100]);
    expect([rejectedRecording.reasons, rejectedRecording.writer.recordedMs]).toEqual([["no_room"], 0]);
    expect(await readdir(folder)).toEqual(["short.wav"]);
  });

  test.runIf(process.platform === "linux")("closes its file if the disk is full from the first byte", async () => {
    const device = "/dev/full";
    const { writer, reasons } = openWriter(device);
    writer.write(noise(320), undefined, 320);
    await writer.finish();
    expect(reasons).toEqual(["disk_full"]);
    const openFiles = await Promise.all(
      (await readdir("/proc/self/fd")).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => "")),
    );
    expect(openFiles).not.toContain(device);
  });

  test("stops if the disk is too slow, and keeps the samples before that", async () => {
    const path = join(temporaryFolder("wav"), "slow.wav");
    const { writer, reasons } = openWriter(path);
    const sound = noise(16_000 * 20);
    for (let offset = 0; offset < sound.length; offset += 320)
      writer.write(sound.subarray(offset, offset + 320), undefined, 320);
    await writer.finish();
    expect(reasons).toEqual(["disk_slow"]);
    const { samples } = decodeWav(await readFile(path));
    expect(samples.length).toBeGreaterThan(16_000 * 8);
    expect(samples).toEqual(sound.subarray(0, samples.length));
  });
});
