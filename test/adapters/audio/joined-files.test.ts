import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { forEachPiece } from "../../../adapters/audio/audio-pieces.ts";
import { concatPcm, pcmToBytes } from "../../../src/audio/samples/pcm.ts";
import { sniff } from "../../../src/audio/sniffing/sniff.ts";
import { tone as sineTone, toneShare } from "../../../src/audio/tones/tone.ts";
import { wavHeader } from "../../../src/audio/wav/wav-header.ts";
import type { FileBytes } from "../../../src/ports/audio-decoder.ts";
import { buildWav, chunk, concatBytes, letters } from "../../audio/wav/wav-files.ts";
import { fuzz } from "../../support/fuzz.ts";

/** A file of one tone. */
interface ToneFile {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly hz: number;
}

interface DecodedFile {
  readonly parts: readonly { readonly samples: Int16Array; readonly sampleRate: number }[];
  readonly truncated: boolean;
  readonly bytes: FileBytes;
}

async function decode(file: Uint8Array): Promise<DecodedFile> {
  const format = sniff(file);
  if (typeof format !== "string") throw new Error(format.unsupported);
  const parts: { pieces: Int16Array[]; sampleRate: number }[] = [];
  const limits = { maxCpuMs: 60_000, isCancelled: () => false };
  const { truncated, bytes } = await forEachPiece(file, format, limits, ({ samples, sampleRate }) => {
    if (parts.at(-1)?.sampleRate !== sampleRate) parts.push({ pieces: [], sampleRate });
    parts.at(-1)!.pieces.push(samples);
  });
  return {
    parts: parts.map(({ pieces, sampleRate }) => ({ samples: concatPcm(pieces), sampleRate })),
    truncated,
    bytes: bytes!,
  };
}

function sumOf({ header, played, ignored }: FileBytes): number {
  return ignored.reduce((sum, { bytes }) => sum + bytes, header + played);
}

const MP3_RATES = [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000];
const mp3s: readonly ToneFile[] = MP3_RATES.map((rate, i) => ({
  name: `MP3 of ${rate} Hz`,
  bytes: new Uint8Array(readFileSync(new URL(`../../fixtures/mp3/tone-${rate}.mp3`, import.meta.url))),
  hz: 350 + 50 * i,
}));

const WAVS: readonly [tag: number, bits: number, channels: number, sampleRate: number][] = [
  [1, 8, 1, 8000],
  [1, 16, 1, 8000],
  [1, 16, 2, 44_100],
  [1, 24, 6, 48_000],
  [1, 32, 1, 16_000],
  [3, 32, 2, 22_050],
  [3, 64, 1, 11_025],
  [6, 8, 1, 8000],
  [7, 8, 2, 16_000],
];
const wavs: readonly ToneFile[] = WAVS.map(([tag, bits, channels, sampleRate], i) => {
  const hz = 350 + 50 * i;
  const frames = Array.from({ length: (sampleRate * 2) / 5 }, (_, n) =>
    new Array<number>(channels).fill(0.5 * Math.sin((2 * Math.PI * hz * n) / sampleRate)),
  );
  return {
    name: `WAV of ${tag}/${bits}/${channels}/${sampleRate}`,
    bytes: buildWav({ tag, bits, channels, sampleRate, frames, extensible: i % 2 === 1 }),
    hz,
  };
});

const id3v1 = concatBytes([letters("TAG"), new Uint8Array(125).fill(0x41)]);
const ape = concatBytes([apeHead(0xa000_0000), new Uint8Array(68).fill(0x42), apeHead(0x8000_0000)]);
const lyrics = Uint8Array.from(letters("LYRICSBEGININD0000200LYR00002hi000032LYRICS200"));
const TAGS: readonly { readonly name: string; readonly bytes: Uint8Array }[] = [
  { name: "no tag", bytes: new Uint8Array(0) },
  { name: "ID3v2", bytes: concatBytes([letters("ID3\x03\x00\x00\x00\x00\x03\x00"), new Uint8Array(384).fill(0x43)]) },
  {
    name: "ID3v2 in UTF-16",
    bytes: concatBytes([letters("ID3\x04\x00\x00\x00\x00\x00\x20\xff\xfe"), new Uint8Array(30).fill(0xff)]),
  },
  { name: "ID3v1", bytes: id3v1 },
  { name: "APEv2", bytes: ape },
  { name: "Lyrics3 and ID3v1", bytes: concatBytes([lyrics, id3v1]) },
  { name: "zeros", bytes: new Uint8Array(777) },
];

function apeHead(flags: number): Uint8Array {
  const head = new Uint8Array(32);
  head.set(letters("APETAGEX"));
  const view = new DataView(head.buffer);
  view.setUint32(8, 2000, true);
  view.setUint32(12, 100, true);
  view.setUint32(20, flags, true);
  return head;
}

const singleResults = new Map<ToneFile, Promise<DecodedFile>>();

/** Decodes a file on its own, at most once. */
function decodeSingle(file: ToneFile): Promise<DecodedFile> {
  const decodedPart = singleResults.get(file) ?? decode(file.bytes);
  singleResults.set(file, decodedPart);
  return decodedPart;
}

/** Expects the tones and lengths of the files in order, with every byte accounted for. */
async function expectAllPlayed(files: readonly ToneFile[], joinedBytes: Uint8Array): Promise<void> {
  const decoded = await Promise.all(files.map(decodeSingle));
  const { parts, truncated, bytes } = await decode(joinedBytes);
  const expected: { samples: number; sampleRate: number; tones: { hz: number; from: number; to: number }[] }[] = [];
  for (const [i, { hz }] of files.entries()) {
    const { samples, sampleRate } = decoded[i]!.parts[0]!;
    if (expected.at(-1)?.sampleRate !== sampleRate) expected.push({ samples: 0, sampleRate, tones: [] });
    const last = expected.at(-1)!;
    last.tones.push({ hz, from: last.samples, to: last.samples + samples.length });
    last.samples += samples.length;
  }
  expect(parts.map(({ samples, sampleRate }) => [samples.length, sampleRate])).toEqual(
    expected.map(({ samples, sampleRate }) => [samples, sampleRate]),
  );
  for (const [i, { tones, sampleRate }] of expected.entries())
    for (const { hz, from, to } of tones) {
      // The edges of an encoded tone ring a little.
      const middle = parts[i]!.samples.subarray(from + sampleRate / 50, to - sampleRate / 50);
      expect(toneShare(middle, hz, sampleRate)).toBeGreaterThan(0.97);
    }
  expect({ truncated, ignored: bytes.ignored, sum: sumOf(bytes) }).toEqual({
    truncated: false,
    ignored: [],
    sum: joinedBytes.length,
  });
}

describe.each(["MP3", "WAV"])("two joined %s files", (format) => {
  const files = format === "MP3" ? mp3s : wavs;
  test.each(files)("play in sequence: $name, then any other", { timeout: 60_000 }, async (first) => {
    for (const second of files) await expectAllPlayed([first, second], concatBytes([first.bytes, second.bytes]));
  });

  test.each(TAGS)("play with $name before, between and after them", { timeout: 60_000 }, async ({ bytes }) => {
    for (const [i, first] of files.entries()) {
      const second = files[(i + 4) % files.length]!;
      await expectAllPlayed([first, second], concatBytes([bytes, first.bytes, bytes, second.bytes, bytes]));
    }
  });
});

fuzz(
  "any number of joined files with any tags play one after the other",
  fc.asyncProperty(
    fc.boolean(),
    fc.array(fc.tuple(fc.nat({ max: 8 }), fc.nat({ max: TAGS.length - 1 })), { minLength: 1, maxLength: 5 }),
    async (isMp3, choices) => {
      const files = choices.map(([fileIndex]) => (isMp3 ? mp3s : wavs)[fileIndex]!);
      await expectAllPlayed(files, concatBytes(choices.flatMap(([, tag], i) => [files[i]!.bytes, TAGS[tag]!.bytes])));
    },
  ),
);

fuzz(
  "each byte of a corrupted file is a header, played, or reported",
  fc.asyncProperty(
    fc.array(fc.constantFrom(...mp3s, ...wavs), { minLength: 1, maxLength: 3 }),
    fc.array(fc.tuple(fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 300 })), { maxLength: 4 }),
    fc.nat({ max: 500 }),
    async (files, edits, cutBytes) => {
      const file = concatBytes(files.map(({ bytes }) => bytes));
      for (const [at, bytes] of edits) file.set(bytes.subarray(0, file.length - (at % file.length)), at % file.length);
      const mutatedFile = file.subarray(0, file.length - cutBytes);
      const result = await decode(mutatedFile).catch((error: unknown) => error);
      if (result instanceof Error) expect(result.message).toMatch(/\w/);
      else expect(sumOf((result as DecodedFile).bytes)).toBe(mutatedFile.length);
    },
  ),
);

/** A WAV file whose lengths were not known when its header was written. */
function wavWithoutLengths(samples: Uint8Array): Uint8Array {
  const file = concatBytes([wavHeader({ sampleRate: 8000 }), samples]);
  const view = new DataView(file.buffer);
  view.setUint32(4, 0xffff_ffff, true);
  view.setUint32(40, 0xffff_ffff, true);
  return file;
}

const unknownLengthFile = wavWithoutLengths(pcmToBytes(sineTone(500, 200, 8000, 9000)));
const anyFile = fc.oneof(
  fc.constantFrom(
    unknownLengthFile,
    wavs[1]!.bytes,
    mp3s[0]!.bytes,
    mp3s[4]!.bytes,
    Uint8Array.from(letters(`{"error": "${"no such voice ".repeat(9)}"}`)),
  ),
  fc.uint8Array({ maxLength: 300 }),
);

describe("WAV files of unknown length with an MP3 after each", () => {
  test("play up to each MP3, which is reported", async () => {
    const mp3 = mp3s[4]!.bytes;
    const { parts, bytes } = await decode(concatBytes([unknownLengthFile, mp3, unknownLengthFile, mp3]));
    expect(parts.map(({ samples }) => samples.length)).toEqual([3200]);
    expect(toneShare(parts[0]!.samples, 500, 8000)).toBeGreaterThan(0.99);
    expect(bytes).toEqual({
      header: 88,
      played: 6400,
      ignored: [{ reason: "unknown_bytes", bytes: 2 * mp3.length }],
    });
  });
});

fuzz(
  "each byte after a file of unknown length is a header, played, or reported",
  fc.asyncProperty(fc.array(anyFile, { maxLength: 6 }), async (pieces) => {
    const file = concatBytes([unknownLengthFile, ...pieces]);
    const result = await decode(file).catch((error: unknown) => error);
    if (result instanceof Error) expect(result.message).toMatch(/\w/);
    else expect(sumOf((result as DecodedFile).bytes)).toBe(file.length);
  }),
);

describe("an MP3 file", () => {
  const tone = mp3s[7]!;
  const frames = tone.bytes;

  test("is decoded inside a WAV file", async () => {
    const fmt = buildWav({ tag: 0x55, bits: 0, sampleRate: 44_100, channels: 2, frames: [] }).subarray(12, 36);
    const file = concatBytes([letters("RIFF\0\0\0\0WAVE"), fmt, chunk("fact", [1, 2, 3, 4]), chunk("data", frames)]);
    const { parts, bytes } = await decode(file);
    expect(parts).toEqual((await decode(frames)).parts);
    expect({ sum: sumOf(bytes), ignored: bytes.ignored }).toEqual({ sum: file.length, ignored: [] });
  });

  test.each<[string, (bytes: Uint8Array) => Uint8Array, readonly string[], number]>([
    ["with zeros between its frames", (b) => insert(b, frameAt(b, 8), new Uint8Array(999)), ["unknown_bytes"], 0],
    [
      "with junk between its frames",
      (b) => insert(b, frameAt(b, 8), Uint8Array.from(letters("junk "))),
      ["unknown_bytes"],
      0,
    ],
    ["with junk at its end", (b) => concatBytes([b, letters("</html>")]), ["unknown_bytes"], 0],
    ["with a broken header", (b) => b.map((byte, i) => (i === frameAt(b, 8) ? 0x11 : byte)), ["unknown_bytes"], 27],
    ["with an incomplete last frame", (b) => b.subarray(0, -20), ["incomplete"], 27],
  ])("%s loses only that part", async (_, change, reasons, lostMs) => {
    const totalSamples = (await decode(frames)).parts[0]!.samples.length;
    const file = change(frames);
    const { parts, bytes } = await decode(file);
    expect(bytes.ignored.map(({ reason }) => reason)).toEqual(reasons);
    expect(sumOf(bytes)).toBe(file.length);
    expect(((totalSamples - parts[0]!.samples.length) * 1000) / 44_100).toBeLessThanOrEqual(lostMs);
    expect(toneShare(parts[0]!.samples.subarray(2000, 6000), tone.hz, 44_100)).toBeGreaterThan(0.95);
  });
});

/** Position of a frame in the 44.1 kHz, 64 kbit/s file. */
function frameAt(bytes: Uint8Array, number: number): number {
  let at = 0;
  for (let i = 0; i < number; i++) at += 208 + ((bytes[at + 2]! >> 1) & 1);
  return at;
}

function insert(bytes: Uint8Array, at: number, insertedBytes: Uint8Array): Uint8Array {
  return concatBytes([bytes.subarray(0, at), insertedBytes, bytes.subarray(at)]);
}
