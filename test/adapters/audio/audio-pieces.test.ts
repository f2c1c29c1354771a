import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { eachPiece } from "../../../adapters/audio/audio-pieces.ts";
import { mp3Opening } from "../../../adapters/audio/mp3-opening.ts";

const fixture = async (name: string): Promise<Uint8Array> =>
  new Uint8Array(await readFile(new URL(`../../fixtures/${name}`, import.meta.url)));

describe("the opening of an MP3 file", () => {
  test.each([
    ["tone-44k-stereo-id3.mp3", { sampleRate: 44_100, channels: 2, claimedSamples: 132_300 }],
    ["tone-16k-mono-vbr.mp3", { sampleRate: 16_000, channels: 1, claimedSamples: 48_000 }],
    ["tone-8k-mono.mp3", { sampleRate: 8000, channels: 1, claimedSamples: undefined }],
  ])("of %s contains its rate, channels and exact length", async (name, opening) => {
    const file = await fixture(name);
    const found = mp3Opening(file);
    expect(found).toMatchObject(opening);
    expect([...file.subarray(found?.start, (found?.start ?? 0) + 1)]).toEqual([0xff]);
  });

  test("is undefined without frames", () => {
    expect(mp3Opening(new Uint8Array(5000))).toBeUndefined();
    expect(mp3Opening(new Uint8Array(0))).toBeUndefined();
  });
});

describe("decoding piece by piece", () => {
  const never = (): boolean => false;

  test("stops between two pieces at its limit of CPU time", async () => {
    const file = await fixture("tone-44k-stereo-id3.mp3");
    let pieces = 0;
    const work = eachPiece(file, "mp3", { maxCpuMs: -1, cancelled: never }, () => {
      pieces++;
    });
    await expect(work).rejects.toThrow("to decode");
    expect(pieces).toBeLessThanOrEqual(1);
  });

  test("stops between two pieces when it is cancelled", async () => {
    const file = await fixture("tone-44k-stereo-id3.mp3");
    let pieces = 0;
    await eachPiece(file, "mp3", { maxCpuMs: 5000, cancelled: () => pieces === 1 }, () => {
      pieces++;
    });
    expect(pieces).toBe(1);
  });
});
