import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { workerDecoder } from "../../adapters/audio/worker-decoder.ts";
import { embeddedWorkers } from "../../adapters/defaults/worker-pool.ts";
import { SpokenBody } from "../../adapters/speech/spoken-body.ts";
import { IncomingAudio } from "../../src/audio/incoming-audio.ts";
import { concatPcm, pcmFromBytes, rms } from "../../src/audio/samples/pcm.ts";
import { resample } from "../../src/audio/samples/resample.ts";
import type { PcmChunk } from "../../src/ports/media.ts";
import { mp3Corpus } from "./mp3-corpus.ts";
import { folder, run, withTools } from "./tools.ts";
import { type CorpusFile, WAV_CORPUS } from "./wav-corpus.ts";

/** Common rate of the comparisons, Hz. */
const RATE = 16_000;
/** Maximum distance between the starts of the same sound, samples: filters and encoders differ. */
const MAX_SHIFT = RATE / 50;
/** Size of a stream's messages, and of the pieces of a response, bytes. */
const PIECE_BYTES = 1_777;

/** The samples of all chunks at one rate. */
function joinChunks(chunks: readonly PcmChunk[]): Int16Array {
  const runs: { sampleRate: number; pieces: Int16Array[] }[] = [];
  for (const { samples, sampleRate } of chunks) {
    if (runs.at(-1)?.sampleRate !== sampleRate) runs.push({ sampleRate, pieces: [] });
    runs.at(-1)!.pieces.push(samples);
  }
  return concatPcm(runs.map(({ sampleRate, pieces }) => resample(concatPcm(pieces), sampleRate, RATE)));
}

function* pieces(bytes: Uint8Array): Generator<Uint8Array> {
  for (let offset = 0; offset < bytes.length; offset += PIECE_BYTES) yield bytes.subarray(offset, offset + PIECE_BYTES);
}

const pool = embeddedWorkers();
const decoder = workerDecoder(pool);
const mp3Stream = () => decoder.mp3Stream!();

type Decode = (file: Uint8Array) => Promise<Int16Array>;

/** Ways in which a file arrives; a live file is decoded before its end is known. */
const PATHS: readonly { readonly name: string; readonly isLive: boolean; readonly decode: Decode }[] = [
  {
    name: "an uploaded file",
    isLive: false,
    async decode(file) {
      const { bytes, truncated } = await decoder.inspect(file, { maxDurationMs: 60_000 });
      const { header = 0, played = 0, ignored = [] } = bytes ?? {};
      expect({ truncated, ignored, sum: header + played }).toEqual({ truncated: false, ignored: [], sum: file.length });
      return decoder.decode(file, RATE);
    },
  },
  {
    name: "a stream",
    isLive: true,
    async decode(file) {
      const chunks: PcmChunk[] = [];
      const audio = new IncomingAudio({
        encoding: undefined,
        sampleRate: 8_000,
        mp3: mp3Stream,
        onDecoded: (samples, sampleRate) => void chunks.push({ samples, sampleRate }),
      });
      for (const piece of pieces(file)) await audio.push(piece);
      expect(audio.end()).toEqual([]);
      audio.close();
      return joinChunks(chunks);
    },
  },
  {
    name: "the response of a speech server",
    isLive: true,
    async decode(file) {
      const chunks: PcmChunk[] = [];
      const body = new SpokenBody({ contentType: null, sampleRate: 8_000, mp3Stream });
      for (const piece of pieces(file)) chunks.push(...(await body.push(piece)));
      chunks.push(...(await body.finish()));
      body.close();
      return joinChunks(chunks);
    },
  },
];

/** Correlation of both sounds with the second one shifted, -1 to 1; of every `step`th sample. */
function correlationAt(a: Int16Array, b: Int16Array, shift: number, step: number): number {
  let [product, first, second] = [0, 0, 0];
  for (let i = MAX_SHIFT, to = Math.min(a.length, b.length) - MAX_SHIFT; i < to; i += step) {
    const [x, y] = [a[i]!, b[i + shift]!];
    product += x * y;
    first += x * x;
    second += y * y;
  }
  return product / Math.sqrt(first * second);
}

/** Correlation of both sounds at their best fit, within {@link MAX_SHIFT}. */
function correlation(a: Int16Array, b: Int16Array): number {
  let best = { shift: 0, value: -1 };
  for (let shift = -MAX_SHIFT; shift <= MAX_SHIFT; shift++) {
    const value = correlationAt(a, b, shift, 7);
    if (value > best.value) best = { shift, value };
  }
  return Math.max(...[-1, 0, 1].map((offset) => correlationAt(a, b, best.shift + offset, 1)));
}

withTools("a file decoded here and by ffmpeg", ["ffmpeg"], () => {
  const files = folder();
  let mp3s: readonly CorpusFile[] = [];
  beforeAll(() => {
    mp3s = mp3Corpus(files);
  }, 120_000);
  afterAll(async () => {
    await decoder.close();
    await pool.close();
  });

  const decodedFiles = new Map<Uint8Array, Int16Array>();
  function decodeByFfmpeg(file: Uint8Array): Int16Array {
    const cachedSamples = decodedFiles.get(file);
    if (cachedSamples !== undefined) return cachedSamples;
    const [input, output] = [join(files, "input"), join(files, "decoded")];
    writeFileSync(input, file);
    run("ffmpeg", "-v", "error", "-y", "-i", input, "-ac", "1", "-ar", String(RATE), "-f", "s16le", output);
    const samples = pcmFromBytes(new Uint8Array(readFileSync(output)));
    decodedFiles.set(file, samples);
    return samples;
  }

  async function expectSame({ bytes, equivalentFiles = [bytes] }: CorpusFile, decode: Decode): Promise<void> {
    const expectedSamples = concatPcm(equivalentFiles.map(decodeByFfmpeg));
    const samples = await decode(bytes);
    expect(rms(expectedSamples), "level of ffmpeg").toBeGreaterThan(100);
    expect(Math.abs(samples.length - expectedSamples.length) / RATE, "difference in length, s").toBeLessThanOrEqual(
      0.02,
    );
    expect(
      Math.abs(20 * Math.log10(rms(samples) / rms(expectedSamples))),
      "difference in level, dB",
    ).toBeLessThanOrEqual(1);
    expect(correlation(samples, expectedSamples), "correlation").toBeGreaterThanOrEqual(0.99);
  }

  describe.each(PATHS)("as $name", ({ decode, isLive }) => {
    test.each(WAV_CORPUS)("sounds the same: WAV, $name", async (file) => {
      await expectSame(file, decode);
    });

    test("sounds the same: every MP3", { timeout: 120_000 }, async () => {
      const faults: string[] = [];
      for (const file of mp3s)
        await expectSame(file, decode).catch((error: unknown) => {
          const { message } = error as Error;
          if (!isLive || !file.refusal?.test(message)) faults.push(`${file.name}: ${message}`);
        });
      expect(faults).toEqual([]);
      expect(mp3s.length).toBeGreaterThan(70);
    });
  });
});
