import * as fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { mp3Stream } from "../../../adapters/audio/mp3-stream.ts";
import { IncomingAudio, NotAudio } from "../../../src/audio/incoming-audio.ts";
import { id3Bytes } from "../../../src/audio/mp3/mp3-frames.ts";
import { concatPcm, pcmToBytes, rms } from "../../../src/audio/samples/pcm.ts";
import type { StreamEncoding } from "../../../src/audio/samples/stream-format.ts";
import { tone, toneShare } from "../../../src/audio/tones/tone.ts";
import type { Mp3Stream } from "../../../src/ports/audio-decoder.ts";
import { concatBytes } from "../../audio/wav/wav-files.ts";
import { fuzz } from "../../support/fuzz.ts";
import { processorMs } from "../../support/processor-time.ts";
import { random } from "../../support/random.ts";
import { refusal } from "../../support/refusal.ts";
import { phaseJump } from "../../support/server-sound.ts";
import { gappedMp3, stereoMp3, TONE_HZ, toneMs, vbrMp3 } from "../../support/tone-files.ts";

/** Plays the pieces, and returns the samples decoded at each rate, in order. */
async function play(
  pieces: Iterable<Uint8Array>,
  encoding?: StreamEncoding,
  mp3 = mp3Stream,
): Promise<{ samples: Int16Array; sampleRate: number }[]> {
  const heard: { pieces: Int16Array[]; sampleRate: number }[] = [];
  const audio = new IncomingAudio({
    encoding,
    sampleRate: 16_000,
    mp3,
    onDecoded(samples, sampleRate) {
      if (heard.at(-1)?.sampleRate !== sampleRate) heard.push({ pieces: [], sampleRate });
      heard.at(-1)?.pieces.push(samples);
    },
  });
  try {
    for (const piece of pieces) await audio.push(piece);
  } finally {
    audio.close();
  }
  return heard.map(({ pieces, sampleRate }) => ({ samples: concatPcm(pieces), sampleRate }));
}

function* cutPieces(bytes: Uint8Array, length: (piece: number) => number): Generator<Uint8Array> {
  for (let at = 0, piece = 0; at < bytes.length; piece++) {
    const next = at + Math.max(1, length(piece));
    yield bytes.subarray(at, next);
    at = next;
  }
}

describe("an MP3 that arrives in pieces", () => {
  test.each([
    ["stereo, with tags and a cover", stereoMp3, 44_100, 3000],
    ["mono, with a variable bit rate", vbrMp3, 16_000, 3000],
    ["mono, without gapless information", gappedMp3, 8000, 3168],
  ])("is decoded to one tone at its rate: %s", async (_, file, rate, ms) => {
    const [heard, ...otherParts] = await play([file]);
    expect([heard?.sampleRate, otherParts]).toEqual([rate, []]);
    const samples = heard?.samples ?? new Int16Array(0);
    expect(Math.abs((1000 * samples.length) / rate - ms)).toBeLessThanOrEqual(1);
    expect(toneMs(samples, rate)).toBeGreaterThanOrEqual(2970);
    const middle = samples.subarray(Math.round(0.5 * rate), Math.round(2.5 * rate));
    expect(toneShare(middle, TONE_HZ, rate)).toBeGreaterThan(0.999);
    expect(phaseJump({ samples: middle, sampleRate: rate }, TONE_HZ)).toBeLessThan(0.1);
    // Two equal channels become one: a tone at half of full scale, which the encoder makes 5 % quieter.
    expect(rms(middle) / (16_384 / Math.SQRT2)).toBeGreaterThan(0.93);
    expect(rms(middle) / (16_384 / Math.SQRT2)).toBeLessThan(1.02);
  });

  test.each([
    ["stereo", stereoMp3],
    ["vbr", vbrMp3],
    ["gapped", gappedMp3],
  ])("is decoded identically byte by byte, in odd pieces and as a whole: %s", { timeout: 60_000 }, async (_, file) => {
    const decodedAtOnce = await play([file]);
    const next = random(5);
    for (const length of [() => 1, () => 97, () => 640, () => 4097, () => Math.floor(next() * 9000)])
      expect(await play(cutPieces(file, length))).toEqual(decodedAtOnce);
    expect(
      await play(
        cutPieces(file, () => 97),
        "mp3",
      ),
    ).toEqual(decodedAtOnce);
  });

  test("is decoded on arrival, a frame or two late", async () => {
    const firstBytes = stereoMp3.subarray(0, 20_000);
    const [heard] = await play([firstBytes]);
    // At 112 kbit/s, a millisecond has 14 bytes.
    const delayMs = (firstBytes.length - id3Bytes(stereoMp3, 0)) / 14 - (heard?.samples.length ?? 0) / 44.1;
    expect(delayMs).toBeGreaterThan(0);
    expect(delayMs).toBeLessThan(80);
  });

  test("can start in the middle of a frame if MP3 is declared", async () => {
    const [heard] = await play([stereoMp3.subarray(20_000)], "mp3");
    expect(toneMs(heard?.samples ?? new Int16Array(0), 44_100)).toBeGreaterThan(1500);
  });

  test("can be followed by another MP3 of the same or another rate", async () => {
    for (const length of [700, 100_000]) {
      const parts = await play(cutPieces(concatBytes([stereoMp3, stereoMp3]), () => length));
      expect(parts.length).toBe(1);
      const { samples = new Int16Array(0) } = parts[0] ?? {};
      expect(toneMs(samples.subarray(0, 3 * 44_100), 44_100)).toBeGreaterThan(2900);
      expect(toneMs(samples.subarray(3 * 44_100), 44_100)).toBeGreaterThan(2900);

      const rates = await play(cutPieces(concatBytes([stereoMp3, vbrMp3, gappedMp3, stereoMp3]), () => length));
      const tones = rates.map(({ samples, sampleRate }) => [sampleRate, toneMs(samples, sampleRate)] as const);
      const longTones = tones.filter(([, ms]) => ms > 2500);
      expect(
        longTones.map(([rate]) => rate),
        JSON.stringify(tones),
      ).toEqual([44_100, 16_000, 8000, 44_100]);
    }
  });
});

describe("a damaged MP3", () => {
  test("loses only its middle if that is broken", async () => {
    const brokenMp3 = stereoMp3.slice();
    for (let i = 25_000; i < 26_000; i++) brokenMp3[i] = (i * 37) & 0xff;
    const [heard] = await play(cutPieces(brokenMp3, () => 1000));
    const samples = heard?.samples ?? new Int16Array(0);
    expect(samples.length / 44.1).toBeGreaterThan(2500);
    expect(toneMs(samples.subarray(0, 44_100), 44_100)).toBeGreaterThan(900);
    expect(toneMs(samples.subarray(-44_100), 44_100)).toBeGreaterThan(900);
  });

  test("continues with the next MP3 after a cut", async () => {
    const heard = await play([stereoMp3.subarray(0, 30_001), stereoMp3]);
    expect(toneMs(concatPcm(heard.map(({ samples }) => samples)).subarray(-3 * 44_100), 44_100)).toBeGreaterThan(2900);
  });

  test("is played to its end with a tenth of its frames broken", { timeout: 60_000 }, async () => {
    const next = random(9);
    const minutes = function* (): Generator<Uint8Array> {
      for (let i = 0; i < 80; i++) {
        const brokenMp3 = stereoMp3.slice();
        for (let at = 14_000; at < 18_000; at++) brokenMp3[at] = next() * 256;
        yield brokenMp3;
      }
    };
    const heard = await play(minutes());
    const samples = concatPcm(heard.map(({ samples }) => samples));
    expect(samples.length / 44_100).toBeGreaterThan(0.85 * 240);
    expect(toneMs(samples.subarray(-44_100), 44_100)).toBeGreaterThan(900);
  });

  test("is refused if it has an endless tail of noise, and prints no warning", async () => {
    const print = vi.spyOn(console, "error").mockImplementation(() => {});
    const next = random(9);
    const noise = function* (): Generator<Uint8Array> {
      yield stereoMp3;
      for (let i = 0; i < 2000; i++) yield Uint8Array.from({ length: 4000 }, () => next() * 256);
    };
    const error = await refusal(play(noise()));
    expect(error).toBeInstanceOf(NotAudio);
    expect((error as Error).message).toMatch(/^the MP3 has ended, and other bytes follow: connect again/);
    expect(print).not.toHaveBeenCalled();
    print.mockRestore();
  });
});

describe("the MP3 decoder", () => {
  test("yields to the event loop every 4 KiB", async () => {
    const largeFile = concatBytes(Array.from({ length: 10 }, () => stereoMp3));
    let turns = 0;
    let isRunning = true;
    const turn = (): void => {
      turns++;
      if (isRunning) setImmediate(turn);
    };
    setImmediate(turn);
    await play([largeFile]);
    isRunning = false;
    expect(turns).toBeGreaterThanOrEqual(Math.floor(largeFile.length / 4096) - 2);
  });
});

/** Decoder that the trials share until it fails, because opening one takes longer than most trials. */
let sharedStream: Promise<Mp3Stream> | undefined;
async function reusableStream(): Promise<Mp3Stream> {
  sharedStream ??= mp3Stream();
  const { push, close } = await sharedStream;
  return {
    push(bytes) {
      try {
        return push(bytes);
      } catch (error) {
        close();
        sharedStream = undefined;
        throw error;
      }
    },
    close() {},
  };
}

async function expectBoundedMemory(
  pieces: Iterable<Uint8Array>,
  bytes: number,
  encoding?: StreamEncoding,
): Promise<void> {
  const startedAt = processorMs();
  const heard = await play(pieces, encoding, reusableStream).catch((error: unknown) => error);
  if (heard instanceof Error) {
    expect(heard).toBeInstanceOf(NotAudio);
    expect(heard.message.length).toBeLessThanOrEqual(123);
  } else {
    // A byte of the slowest MP3, 8 kbit/s, lasts a millisecond; a frame may have begun earlier.
    for (const { samples, sampleRate } of heard as Awaited<ReturnType<typeof play>>)
      expect((1000 * samples.length) / sampleRate).toBeLessThan(bytes + 200);
  }
  expect(processorMs() - startedAt).toBeLessThan(10_000);
}

const mutations = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 40 });
fuzz(
  "a corrupted MP3, cut anywhere, is played or refused in bounded time",
  fc.asyncProperty(mutations, fc.nat({ max: 900 }), async (changes, length) => {
    const bytes = vbrMp3.slice(0, 900);
    for (const [at, byte] of changes) bytes[at % bytes.length] = byte;
    await expectBoundedMemory(
      cutPieces(bytes, () => length),
      bytes.length,
      "mp3",
    );
  }),
);
fuzz(
  "random bytes after the start of an MP3 are played or refused in bounded time",
  fc.asyncProperty(fc.uint8Array({ maxLength: 3000 }), async (bytes) => {
    await expectBoundedMemory([vbrMp3.subarray(0, 900), bytes], 900 + bytes.length);
  }),
);

test("PCM remains PCM if MP3 can be decoded", async () => {
  const samples = tone(440, 500, 16_000, 8000);
  expect(await play([pcmToBytes(samples)])).toEqual([{ samples, sampleRate: 16_000 }]);
});
