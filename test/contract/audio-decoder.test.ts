import fc from "fast-check";
import { afterAll, describe, expect, test, vi } from "vitest";
import { decodeJob } from "../../adapters/audio/decode-job.ts";
import { workerDecoder } from "../../adapters/audio/worker-decoder.ts";
import { embeddedWorkers } from "../../adapters/defaults/worker-pool.ts";
import { concatPcm, downMix, pcmToBytes, rms } from "../../src/audio/samples/pcm.ts";
import { tone } from "../../src/audio/tones/tone.ts";
import { wavHeader } from "../../src/audio/wav/wav-header.ts";
import { AudioUnsupported } from "../../src/ports/audio-decoder.ts";
import { fuzz } from "../support/fuzz.ts";
import { refusal } from "../support/refusal.ts";
import { gappedMp3, stereoMp3, TONE_HZ, toneMs, vbrMp3 } from "../support/tone-files.ts";

const LIMITS = { maxDurationMs: 600_000 };

const pool = embeddedWorkers();
const decoder = workerDecoder(pool);
afterAll(async () => {
  await decoder.close();
  await pool.close();
});

function wav(samples: Int16Array, sampleRate: number, claimedLength: number | undefined = samples.length): Uint8Array {
  const bytes = new Uint8Array(44 + 2 * samples.length);
  bytes.set(wavHeader({ sampleRate, samples: claimedLength }));
  bytes.set(pcmToBytes(samples), 44);
  return bytes;
}

async function outcome(work: Promise<unknown>): Promise<"ok" | "refused"> {
  try {
    await work;
    return "ok";
  } catch (error) {
    expect(error).toBeInstanceOf(AudioUnsupported);
    expect((error as Error).message).toMatch(/^the .*[^.]$/);
    return "refused";
  }
}

describe("inspecting a file", () => {
  test.each([
    ["stereo MP3 with tags and a cover", stereoMp3, { sampleRate: 44_100, channels: 2, durationMs: 3000 }],
    ["mono MP3 of variable bit rate", vbrMp3, { sampleRate: 16_000, channels: 1, durationMs: 3000 }],
    ["MP3 without gapless information", gappedMp3, { sampleRate: 8000, channels: 1, durationMs: 3168 }],
  ])("returns the properties of %s", async (_, file, properties) => {
    expect(await decoder.inspect(file, LIMITS)).toMatchObject({ format: "mp3", truncated: false, ...properties });
  });

  test("returns the properties of a WAV file", async () => {
    const properties = await decoder.inspect(wav(tone(TONE_HZ, 2500, 22_050, 16_000), 22_050), LIMITS);
    expect(properties).toEqual({
      format: "wav",
      sampleRate: 22_050,
      channels: 1,
      truncated: false,
      durationMs: 2500,
      bytes: { header: 44, played: 110_250, ignored: [] },
    });
  });

  test.each([
    ["an array", new Uint8Array(stereoMp3)],
    ["a Buffer", Buffer.from(stereoMp3)],
    ["a view of shared memory", new Uint8Array(new SharedArrayBuffer(stereoMp3.length))],
  ])("leaves the bytes of %s unchanged", async (_, file) => {
    file.set(stereoMp3);
    for (let time = 0; time < 2; time++) expect((await decoder.inspect(file, LIMITS)).durationMs).toBe(3000);
    await decoder.decode(file, 8000);
    expect(new Uint8Array(file)).toEqual(stereoMp3);
  });

  test("does not depend on the position of the bytes in memory", async () => {
    const buffer = new Uint8Array(vbrMp3.length + 20);
    buffer.set(vbrMp3, 7);
    expect((await decoder.inspect(buffer.subarray(7, 7 + vbrMp3.length), LIMITS)).durationMs).toBe(3000);
  });
});

describe("the decoded samples", () => {
  const files: [string, Uint8Array, number][] = [
    ["stereo MP3 with tags and a cover", stereoMp3, 3000],
    ["mono MP3 of variable bit rate", vbrMp3, 3000],
    ["MP3 without gapless information", gappedMp3, 3168],
    ["WAV at 48 kHz", wav(tone(TONE_HZ, 3000, 48_000, 16_384), 48_000), 3000],
    ["WAV at 8 kHz", wav(tone(TONE_HZ, 3000, 8000, 16_384), 8000), 3000],
  ];
  for (const [name, file, lengthMs] of files) {
    test.each([8000, 16_000, 48_000])(`of ${name} at %i Hz are the whole tone at its level`, async (rate) => {
      const samples = await decoder.decode(file, rate);
      expect(Math.abs((1000 * samples.length) / rate - lengthMs)).toBeLessThanOrEqual(1);
      expect(Math.abs(toneMs(samples, rate) - 3000)).toBeLessThanOrEqual(30);
      const middle = samples.subarray(samples.length / 4, samples.length / 2);
      // The encoder reduces the level by 5 %.
      expect(rms(middle) / (16_384 / Math.SQRT2)).toBeGreaterThan(0.93);
      expect(rms(middle) / (16_384 / Math.SQRT2)).toBeLessThan(1.02);
    });
  }

  test("are the average of the channels", async () => {
    const leftChannel = tone(TONE_HZ, 500, 8000, 16_000);
    const interleavedSamples = Int16Array.from({ length: 2 * leftChannel.length }, (_, i) =>
      i % 2 ? 0 : (leftChannel[i >> 1] ?? 0),
    );
    const file = wav(interleavedSamples, 8000);
    const view = new DataView(file.buffer);
    view.setUint16(22, 2, true);
    view.setUint32(28, 4 * 8000, true);
    view.setUint16(32, 4, true);
    expect(await decoder.decode(file, 8000)).toEqual(downMix(interleavedSamples, 2));
  });
});

describe("a damaged file", () => {
  test("tags that claim more than the file are searched for frames", async () => {
    const file = stereoMp3.slice();
    file.set([0x7f, 0x7f, 0x7f, 0x7f], 6);
    expect(await decoder.inspect(file, LIMITS)).toMatchObject({ durationMs: 3000, bytes: { ignored: [] } });
  });

  test("a WAV file shorter than it claims is played to its end", async () => {
    const samples = tone(TONE_HZ, 1000, 8000, 8000);
    const file = wav(samples, 8000, 10 * samples.length);
    expect(await decoder.inspect(file, LIMITS)).toMatchObject({ durationMs: 1000, truncated: true });
    expect(await decoder.decode(file, 8000)).toEqual(samples);
  });

  test("an MP3 that is cut off is played to its end", async () => {
    for (const file of [stereoMp3, vbrMp3]) {
      const truncatedFile = file.subarray(0, Math.floor(file.length * 0.7));
      const properties = await decoder.inspect(truncatedFile, LIMITS);
      expect(properties.truncated).toBe(true);
      expect(properties.durationMs).toBeGreaterThan(1000);
      expect(properties.durationMs).toBeLessThan(2500);
    }
  });

  test("a broken MP3 loses only the broken part", async () => {
    const corruptedMp3 = stereoMp3.slice();
    for (let i = 25_000; i < 26_000; i++) corruptedMp3[i] = (i * 37) & 0xff;
    expect((await decoder.inspect(corruptedMp3, LIMITS)).durationMs).toBeGreaterThan(2500);
    const samples = await decoder.decode(corruptedMp3, 8000);
    expect(toneMs(samples.subarray(0, 8000), 8000)).toBeGreaterThan(900);
    expect(toneMs(samples.subarray(-8000), 8000)).toBeGreaterThan(900);
  });

  test("an MP3 with a tail of noise plays the rest without printing", async () => {
    const print = vi.spyOn(console, "error").mockImplementation(() => {});
    const noise = Uint8Array.from({ length: 200_000 }, (_, i) => (Math.imul(i + 1, 2_654_435_761) >>> 13) & 0xff);
    const file = new Uint8Array(stereoMp3.length + noise.length);
    file.set(stereoMp3);
    file.set(noise, stereoMp3.length);
    expect((await decoder.inspect(file, LIMITS)).durationMs).toBeGreaterThan(2900);
    expect(print).not.toHaveBeenCalled();
    print.mockRestore();
  });
});

describe("an unplayable file is refused with its fault", () => {
  const noise = Uint8Array.from({ length: 50_000 }, (_, i) => (Math.imul(i + 7, 2_654_435_761) >>> 11) & 0xff);
  const onlyTags = new Uint8Array(2000);
  onlyTags.set([0x49, 0x44, 0x33, 3, 0, 0, 0, 0, 0x0f, 0x46]);
  const cases: [string, Uint8Array][] = [
    ["no bytes", new Uint8Array(0)],
    ["random bytes", noise],
    ["text", new TextEncoder().encode("<html>an error page</html>")],
    ["an Ogg file", new TextEncoder().encode("OggS and so on")],
    ["only tags", onlyTags],
    ["a WAV header alone", wav(new Int16Array(0), 8000)],
    ["half a WAV header", wav(new Int16Array(0), 8000).subarray(0, 30)],
  ];
  test.each(cases)("the file is refused: %s", async (_, file) => {
    expect(await outcome(decoder.inspect(file, LIMITS))).toBe("refused");
    expect(await outcome(decoder.decode(file, 8000))).toBe("refused");
  });

  test("a file that is too long is refused with the limit", async () => {
    for (const file of [stereoMp3, wav(tone(TONE_HZ, 3000, 8000, 8000), 8000)]) {
      const error = await refusal(decoder.inspect(file, { maxDurationMs: 2000 }));
      expect(error).toBeInstanceOf(AudioUnsupported);
      expect((error as Error).message).toBe("the audio is longer than the limit of 2 s");
    }
  });
});

describe("decoding", () => {
  test("stops an hour of MP3 at the limit", { timeout: 60_000 }, async () => {
    const frames = gappedMp3.subarray(0, gappedMp3.length - (gappedMp3.length % 72));
    const hour = new Uint8Array(frames.length * 1150);
    for (let i = 0; i < 1150; i++) hour.set(frames, i * frames.length);
    const startedAt = performance.now();
    const error = await refusal(decoder.inspect(hour, LIMITS));
    expect((error as Error).message).toBe("the audio is longer than the limit of 10 min");
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  test("ends with the reason of an aborted signal", async () => {
    const longFile = wav(tone(TONE_HZ, 120_000, 44_100, 8000), 44_100);
    const reason = new Error("never mind");
    const abort = new AbortController();
    const work = refusal(decoder.decode(longFile, 8000, abort.signal));
    setTimeout(() => abort.abort(reason), 20);
    expect(await work).toBe(reason);
    expect(await refusal(decoder.inspect(stereoMp3, LIMITS, AbortSignal.abort(reason)))).toBe(reason);
    expect((await decoder.inspect(stereoMp3, LIMITS)).durationMs).toBe(3000);
  });

  test("needs no worker for a short WAV file", async () => {
    const closedPool = embeddedWorkers();
    await closedPool.close();
    const samples = tone(TONE_HZ, 1000, 16_000, 8000);
    expect(await workerDecoder(closedPool).decode(wav(samples, 16_000), 16_000)).toEqual(samples);
    const longFile = wav(tone(TONE_HZ, 5000, 16_000, 8000), 16_000);
    await expect(workerDecoder(closedPool).decode(longFile, 16_000)).rejects.toMatchObject({ kind: "closed" });
  });

  test.each([8000, 44_100])("decodes a short WAV file at %i Hz as a worker does", async (sampleRate) => {
    const samples = tone(TONE_HZ, 500, sampleRate, 8000);
    const decodedFiles: ArrayBuffer[] = [];
    const file = wav(samples, sampleRate);
    await decodeJob(
      { file: file.slice().buffer as ArrayBuffer, format: "wav", sampleRate: 16_000, maxCpuMs: 10_000 },
      { isCancelled: () => false, emit: (piece) => void decodedFiles.push(piece) },
    );
    expect(await decoder.decode(file, 16_000)).toEqual(new Int16Array(decodedFiles[0]!));
  });

  test("reports a closed pool as an internal fault, not the file's", async () => {
    const closedPool = embeddedWorkers();
    await closedPool.close();
    const error = await refusal(workerDecoder(closedPool).inspect(stereoMp3, LIMITS));
    expect(error).toMatchObject({ name: "PoolError", kind: "closed" });
  });
});

describe("hostile bytes", () => {
  const expectBounded = async (file: Uint8Array): Promise<void> => {
    const startedAt = performance.now();
    const inspection = await outcome(decoder.inspect(file, LIMITS));
    if (inspection === "ok") {
      const samples = await decoder.decode(file, 8000);
      expect(samples.length).toBeGreaterThanOrEqual(0);
    }
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  };

  const mutations = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 40 });
  const mutate = (file: Uint8Array, changes: readonly (readonly [number, number])[]): Uint8Array => {
    const copy = file.slice();
    for (const [at, byte] of changes) copy[at % copy.length] = byte;
    return copy;
  };

  /** A second of speech: short enough for a hundred thousand trials. */
  const shortFile = vbrMp3.subarray(0, 900);

  fuzz(
    "random bytes are refused or played in bounded time",
    fc.asyncProperty(fc.uint8Array({ maxLength: 3000 }), expectBounded),
  );
  fuzz(
    "a corrupted MP3 is refused or played in bounded time",
    fc.asyncProperty(mutations, (changes) => expectBounded(mutate(shortFile, changes))),
  );
  fuzz(
    "an MP3 cut anywhere is refused or played in bounded time",
    fc.asyncProperty(fc.nat({ max: shortFile.length }), (length) => expectBounded(shortFile.subarray(0, length))),
  );
  const smallWav = wav(concatPcm([tone(TONE_HZ, 50, 8000, 8000)]), 8000);
  fuzz(
    "a WAV file with a corrupted header is refused or played in bounded time",
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat({ max: 43 }), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 6 }),
      (changes) => expectBounded(mutate(smallWav, changes)),
    ),
  );
});
