import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { forEachPiece } from "../../../adapters/audio/audio-pieces.ts";
import { Mp3Splitter } from "../../../src/audio/mp3/mp3-splitter.ts";

const fixture = async (name: string): Promise<Uint8Array> =>
  new Uint8Array(await readFile(new URL(`../../fixtures/${name}`, import.meta.url)));

describe("an MP3 file", () => {
  test.each([
    ["tone-44k-stereo-id3.mp3", 44_100, 2, true],
    ["tone-16k-mono-vbr.mp3", 16_000, 1, true],
    ["tone-8k-mono.mp3", 8000, 1, false],
  ])("is split into its frames: %s", async (name, sampleRate, channels, hasInfo) => {
    const file = await fixture(name);
    for (const size of [file.length, 7]) {
      const splitter = new Mp3Splitter({ size: file.length });
      const parts = [];
      for (let offset = 0; offset < file.length; offset += size)
        parts.push(...splitter.push(file.subarray(offset, offset + size)));
      parts.push(...splitter.finish());
      const frames = parts.filter((part) => part.kind === "frame");
      expect(frames.every(({ header }) => header.sampleRate === sampleRate && header.channels === channels)).toBe(true);
      expect(parts.some(({ kind }) => kind === "unknown" || kind === "incomplete")).toBe(false);
      const infoParts = parts.filter((part) => part.kind === "info");
      expect(infoParts.map(({ info }) => info.frames)).toEqual(hasInfo ? [frames.length] : []);
      expect(parts.reduce((sum, part) => sum + ("bytes" in part ? part.bytes.length : part.length), 0)).toBe(
        file.length,
      );
    }
  });
});

describe("decoding piece by piece", () => {
  const isNeverCancelled = (): boolean => false;

  test("stops between pieces at its CPU limit", async () => {
    const file = await fixture("tone-44k-stereo-id3.mp3");
    let pieces = 0;
    const work = forEachPiece(file, "mp3", { maxCpuMs: -1, isCancelled: isNeverCancelled }, () => {
      pieces++;
    });
    await expect(work).rejects.toThrow("to decode");
    // Each piece has several frames of 16 KiB.
    expect(pieces).toBeLessThan(10);
  });

  test("stops between two pieces when it is cancelled", async () => {
    const file = await fixture("tone-44k-stereo-id3.mp3");
    let pieces = 0;
    await forEachPiece(file, "mp3", { maxCpuMs: 5000, isCancelled: () => pieces > 0 }, () => {
      pieces++;
    });
    expect(pieces).toBeLessThan(10);
  });
});
