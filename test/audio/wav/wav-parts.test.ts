import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AudioFormatError } from "../../../src/audio/audio-format-error.ts";
import { concatPcm, pcmToBytes } from "../../../src/audio/samples/pcm.ts";
import { tone, toneShare } from "../../../src/audio/tones/tone.ts";
import { decodeWav, WavDecoder } from "../../../src/audio/wav/wav.ts";
import { wavHeader } from "../../../src/audio/wav/wav-header.ts";
import type { FileBytes } from "../../../src/ports/audio-decoder.ts";
import type { PcmChunk } from "../../../src/ports/media.ts";
import { fuzz } from "../../support/fuzz.ts";
import { buildWav, chunk, concatBytes, letters } from "./wav-files.ts";

interface DecodedParts {
  /** Joined as long as the rate stays the same. */
  readonly parts: readonly PcmChunk[];
  readonly truncated: boolean;
  readonly bytes: FileBytes;
}

function decodeParts(bytes: Uint8Array, size = bytes.length, isFile = true): DecodedParts {
  const decoder = new WavDecoder(isFile ? { size: bytes.length } : {});
  const chunks: PcmChunk[] = [];
  for (let at = 0; at < bytes.length; at += size) chunks.push(...decoder.push(bytes.subarray(at, at + size)));
  chunks.push(...decoder.finish());
  const parts: PcmChunk[] = [];
  for (const { samples, sampleRate } of chunks) {
    const last = parts.at(-1);
    if (last?.sampleRate !== sampleRate) parts.push({ samples, sampleRate });
    else parts[parts.length - 1] = { samples: concatPcm([last.samples, samples]), sampleRate };
  }
  return { parts, truncated: decoder.truncated, bytes: decoder.bytes };
}

function sumOf({ header, played, ignored }: FileBytes): number {
  return ignored.reduce((sum, { bytes }) => sum + bytes, header + played);
}

const frames = (hz: number, ms: number, rate = 8000, channels = 1): number[][] =>
  Array.from({ length: (rate * ms) / 1000 }, (_, i) =>
    new Array<number>(channels).fill(0.5 * Math.sin((2 * Math.PI * hz * i) / rate)),
  );

const shortFile = buildWav({ tag: 1, bits: 16, frames: frames(500, 200) });
const highFile = buildWav({ tag: 1, bits: 16, frames: frames(1000, 300) });
const stereoFile = buildWav({ tag: 1, bits: 16, channels: 2, sampleRate: 44_100, frames: frames(700, 100, 44_100, 2) });

describe("joined WAV files", () => {
  test("are all heard, at any cut", () => {
    const file = concatBytes([shortFile, highFile]);
    for (const size of [file.length, 1, 7, 44, 3250]) {
      const { parts, truncated, bytes } = decodeParts(file, size);
      expect(parts.map(({ sampleRate, samples }) => [sampleRate, samples.length])).toEqual([[8000, 4000]]);
      expect(toneShare(parts[0]!.samples.subarray(0, 1600), 500, 8000)).toBeGreaterThan(0.99);
      expect(toneShare(parts[0]!.samples.subarray(1600), 1000, 8000)).toBeGreaterThan(0.99);
      expect({ truncated, ...bytes }).toEqual({ truncated: false, header: 88, played: 8000, ignored: [] });
    }
  });

  test("keep the rate and the channels of each", () => {
    for (const size of [100_000, 13]) {
      const { parts } = decodeParts(concatBytes([shortFile, stereoFile, highFile]), size);
      expect(parts.map(({ sampleRate, samples }) => [sampleRate, samples.length])).toEqual([
        [8000, 1600],
        [44_100, 4410],
        [8000, 2400],
      ]);
      expect(toneShare(parts[1]!.samples, 700, 44_100)).toBeGreaterThan(0.99);
    }
  });

  test("may have bytes between them, which are counted", () => {
    const { parts, bytes } = decodeParts(concatBytes([shortFile, letters("\x07\xffjunk"), highFile]), 100);
    expect(parts[0]?.samples.length).toBe(4000);
    expect(bytes.ignored).toEqual([{ reason: "unknown_bytes", bytes: 6 }]);
  });

  test("are heard up to a file that cannot be read, which is counted", () => {
    const gsm = buildWav({ tag: 0x31, bits: 0, frames: [] });
    const { parts, bytes } = decodeParts(concatBytes([shortFile, gsm, highFile]), 50);
    expect(parts[0]?.samples.length).toBe(4000);
    expect(bytes.ignored).toEqual([{ reason: "unreadable_part", bytes: 8 }]);
    expect(sumOf(bytes)).toBe(shortFile.length + gsm.length + highFile.length);
  });
});

describe("a WAV file's data", () => {
  const data = (hz: number): Uint8Array => chunk("data", pcmToBytes(tone(hz, 100, 8000, 9000)));

  test("may be in several chunks", () => {
    const file = concatBytes([shortFile.subarray(0, 36), data(500), chunk("LIST", letters("INFO1")), data(1000)]);
    const { parts, bytes } = decodeParts(file, 9);
    expect(parts.map(({ samples }) => samples.length)).toEqual([1600]);
    expect(toneShare(parts[0]!.samples.subarray(800), 1000, 8000)).toBeGreaterThan(0.99);
    expect(bytes).toMatchObject({ played: 3200, ignored: [] });
  });

  test.each([0, 0xffff_ffff, 0x7fff_ffff, 2_000_000_000, 0x7fff_f024, 0x8000_0000])(
    "may have the placeholder %i as length, with the header before each piece",
    (placeholder) => {
      const header = wavHeader({ sampleRate: 8000 });
      new DataView(header.buffer).setUint32(4, placeholder, true);
      new DataView(header.buffer).setUint32(40, placeholder, true);
      const samples = tone(500, 100, 8000, 9000);
      const file = concatBytes([header, pcmToBytes(samples), header, pcmToBytes(samples), header]);
      for (const isFile of [true, false]) {
        const { parts, truncated, bytes } = decodeParts(file, 11, isFile);
        expect(parts).toEqual([{ sampleRate: 8000, samples: concatPcm([samples, samples]) }]);
        expect({ truncated, ignored: bytes.ignored }).toEqual({ truncated: false, ignored: [] });
      }
    },
  );

  test("ends at the next other content, searched for once, if its length is unknown", () => {
    const header = wavHeader({ sampleRate: 8000 });
    new DataView(header.buffer).setUint32(40, 0xffff_ffff, true);
    const piece = concatBytes([header, pcmToBytes(tone(500, 100, 8000, 9000)), letters("other content")]);
    const positions = [piece.length - 13, 3 * piece.length - 13];
    const lookups: number[] = [];
    const nextForeign = (from: number): number => {
      if (lookups.push(from) > 9) throw new Error("searches repeatedly");
      return positions.find((position) => position >= from) ?? Infinity;
    };
    const file = concatBytes([piece, piece, piece, header]);
    const decoder = new WavDecoder({ size: file.length, nextForeign });
    const chunks = [...decoder.push(file), ...decoder.finish()];
    expect(lookups).toEqual([44, piece.length + 44, 3 * piece.length + 44]);
    expect(concatPcm(chunks.map(({ samples }) => samples)).length).toBe(2400 + 6);
    expect(decoder.bytes).toEqual({
      header: 4 * 44,
      played: 4800 + 12,
      ignored: [
        { reason: "unknown_bytes", bytes: 26 },
        { reason: "incomplete", bytes: 1 },
      ],
    });
  });

  test("is complete if only its own length counts the header", () => {
    for (const extraBytes of [8, 36, 44]) {
      const file = buildWav({ tag: 1, bits: 16, frames: frames(500, 100), dataSize: 1600 + extraBytes });
      expect(decodeParts(file).truncated).toBe(false);
    }
  });

  test("is cut off if the file is shorter than it claims", () => {
    expect(decodeParts(shortFile.subarray(0, 1000)).truncated).toBe(true);
    expect(decodeParts(shortFile.subarray(0, shortFile.length - 2)).truncated).toBe(true);
  });

  test("follows chunks of odd length, with or without their pad byte", () => {
    for (const pad of [[], [0], [0x55]]) {
      const before = [letters("JUNK\x03\x00\x00\x00abc"), pad, letters("bext\x05\x00\x00\x00abcde"), pad];
      const { parts } = decodeParts(
        buildWav({ tag: 1, bits: 16, frames: frames(500, 100), before: before.map((b) => Uint8Array.from(b)) }),
        5,
      );
      expect(parts[0]?.samples.length).toBe(800);
    }
  });

  test("may be followed by tags and chunks, which are not sound", () => {
    const tags = [
      concatBytes([letters("TAG"), new Uint8Array(125).fill(0x41)]),
      concatBytes([letters("ID3\x03\x00\x00\x00\x00\x01\x00"), new Uint8Array(128)]),
      chunk("id3 ", letters("ID3 whatever")),
      new Uint8Array(500),
    ];
    for (const tag of tags) {
      const { parts, bytes } = decodeParts(concatBytes([shortFile, tag, highFile, tag]), 17);
      expect(parts[0]?.samples.length).toBe(4000);
      expect(bytes.ignored).toEqual([]);
    }
  });
});

/** Packs samples of 24 bits into 4 bytes, or of 12 bits into 2 bytes, at their low or high end. */
function packSamples(values: readonly number[], bits: number, container: number, isLow: boolean): Uint8Array {
  const bytes = new Uint8Array(values.length * container);
  const view = new DataView(bytes.buffer);
  for (const [i, value] of values.entries()) {
    const sample = Math.round(value * (2 ** (bits - 1) - 1)) * (isLow ? 1 : 2 ** (8 * container - bits));
    if (container === 4) view.setInt32(4 * i, sample, true);
    else if (container === 2) view.setInt16(2 * i, sample, true);
    else for (let byte = 0; byte < 3; byte++) bytes[3 * i + byte] = Math.floor(sample / 256 ** byte) & 255;
  }
  return bytes;
}

describe("a WAV header's claims", () => {
  test("samples after a data chunk may end within what could be a chunk's header", () => {
    const file = concatBytes([buildWav({ tag: 1, bits: 16, frames: [[1], [2]] }), letters("    ")]);
    new DataView(file.buffer).setUint32(4, 0, true);
    expect(decodeWav(file).samples.length).toBe(4);
  });

  test.each([1, 2, 1599, 3001])("samples after a data chunk of %i bytes are heard if the file continues", (claim) => {
    const file = shortFile.slice();
    new DataView(file.buffer).setUint32(40, claim, true);
    for (const size of [file.length, 9]) {
      const { parts, bytes } = decodeParts(file, size);
      expect(parts[0]!.samples.length).toBeGreaterThanOrEqual(1598);
      expect(toneShare(parts[0]!.samples, 500, 8000)).toBeGreaterThan(0.95);
      expect(sumOf(bytes)).toBe(file.length);
    }
  });

  test("empty data chunks after the samples are not placeholders", () => {
    const { parts, bytes } = decodeParts(
      concatBytes([shortFile, ...new Array<Uint8Array>(50).fill(chunk("data", []))]),
      100,
    );
    expect(parts[0]!.samples.length).toBe(1600);
    expect(bytes.ignored).toEqual([]);
  });

  test("a header's letters between samples are samples", () => {
    const file = shortFile.slice();
    file.set(letters("RIFF\x10\0\0\0WAVE"), 1000);
    expect(decodeParts(file, 33).parts[0]!.samples.length).toBe(1600);
  });

  test.each<[string, Uint8Array, RegExp]>([
    ["JSON", Uint8Array.from(letters(`{"error": {"message": "${"no such voice ".repeat(9)}"}}`)), /JSON/],
    ["HTML", Uint8Array.from(letters(`<!doctype html><html>${"an error ".repeat(9)}`)), /HTML/],
    ["Ogg", Uint8Array.from(letters("OggS\0\x02\0\0\0\0\0\0\0\0............")), /Ogg/],
    ["FLAC", Uint8Array.from(letters("fLaC\0\0\0\x22............")), /FLAC/],
    ["AAC", concatBytes([adts(200), adts(180), adts(190)]), /AAC/],
  ])("a body of %s is refused by name", (_, body, name) => {
    for (const samples of [body.length >> 1, undefined]) {
      const file = concatBytes([wavHeader({ sampleRate: 8000, samples }), body]);
      expect(() => decodeParts(file)).toThrow(name);
      expect(decodeParts(concatBytes([shortFile, file])).bytes.ignored).toEqual([
        { reason: "unreadable_part", bytes: body.length },
      ]);
    }
  });
});

/** An AAC frame with its header. */
function adts(length: number): Uint8Array {
  const frame = new Uint8Array(length);
  frame.set([0xff, 0xf1, 0x50, 0x80 | (length >> 11), (length >> 3) & 0xff, ((length & 7) << 5) | 0x1f, 0xfc]);
  return frame;
}

describe("samples in larger containers", () => {
  const values = [...new Array<number>(3000).fill(0), ...frames(500, 1000).map(([value = 0]) => value)];
  const cases = [24, 20].flatMap((bits) => [true, false].map((isLow) => ({ bits, container: 4, isLow })));
  cases.push({ bits: 20, container: 3, isLow: true }, { bits: 20, container: 3, isLow: false });
  cases.push({ bits: 12, container: 2, isLow: true }, { bits: 12, container: 2, isLow: false });
  for (const { bits, container, isLow } of cases)
    for (const extensible of [true, false])
      test(`of ${container} bytes play (${bits} bits, ${isLow ? "low" : "high"} end, extensible: ${extensible})`, () => {
        const header = buildWav({ tag: 1, bits: 8 * container, extensible, frames: [] });
        const view = new DataView(header.buffer);
        view.setUint16(extensible ? 38 : 34, bits, true);
        if (!extensible && bits === 24) view.setUint16(32, 4, true);
        const data = packSamples(values, bits, container, isLow);
        view.setUint32(header.length - 4, data.length, true);
        const file = concatBytes([header, data]);
        const { parts, bytes } = decodeParts(file, 1000);
        expect(parts[0]?.samples.length).toBe(values.length);
        for (const [i, sample] of parts[0]!.samples.entries())
          expect(Math.abs(sample - values[i]! * 32_767)).toBeLessThanOrEqual(bits === 12 ? 16 : 2);
        expect(sumOf(bytes)).toBe(file.length);
        expect(decodeParts(file, 7).parts).toEqual(parts);
      });
});

/** One tone per channel in turn shows each channel's share. */
function channelShares(channels: number, mask: number | undefined): number[] {
  return Array.from({ length: channels }, (_, activeChannel) => {
    const file = buildWav({
      tag: 1,
      bits: 16,
      channels,
      extensible: mask !== undefined,
      // A quiet tone on the first channel keeps any other channel from being the only one.
      frames: frames(500, 50).map(([value = 0], i) =>
        Array.from(
          { length: channels },
          (_, c) => (c === activeChannel ? value : 0) + (c === 0 ? 0.0625 * Math.cos(i) : 0),
        ),
      ),
    });
    if (mask !== undefined) new DataView(file.buffer).setUint32(40, mask, true);
    const { samples } = decodeWav(file);
    let sum = 0;
    for (const [i, sample] of samples.entries()) sum += sample * Math.sin((2 * Math.PI * 500 * i) / 8000);
    return sum / samples.length / 8192;
  });
}

describe("channels are mixed", () => {
  // Measured with ffmpeg 5.1 -ac 1, with the tone in one channel after the other.
  test.each<[string, number | undefined, number[]]>([
    ["one channel", undefined, [1]],
    ["stereo", undefined, [0.5, 0.5]],
    ["2.1", 0xb, [0.5, 0.5, 0]],
    ["3.0", 0x7, [0.2929, 0.2929, 0.4142]],
    ["3.0 with a back channel", 0x103, [0.3694, 0.3694, 0.2612]],
    ["4.0", undefined, [0.2426, 0.2426, 0.3431, 0.1716]],
    ["quad", 0x33, [0.2929, 0.2929, 0.2071, 0.2071]],
    ["3.1", 0xf, [0.2929, 0.2929, 0.4142, 0]],
    ["5.0", undefined, [0.2071, 0.2071, 0.2929, 0.1464, 0.1464]],
    ["4.1", 0x10f, [0.2426, 0.2426, 0.3431, 0, 0.1716]],
    ["5.1", undefined, [0.2071, 0.2071, 0.2929, 0, 0.1464, 0.1464]],
    ["5.1 with side channels", 0x60f, [0.2071, 0.2071, 0.2929, 0, 0.1464, 0.1464]],
    ["6.0", 0x707, [0.1807, 0.1807, 0.2555, 0.1278, 0.1278, 0.1278]],
    ["6.0 in front", 0x6c3, [0.1847, 0.1847, 0.1847, 0.1847, 0.1306, 0.1306]],
    ["6.1", undefined, [0.1807, 0.1807, 0.2555, 0, 0.1278, 0.1278, 0.1278]],
    ["7.1", 0x63f, [0.1602, 0.1602, 0.2266, 0, 0.1133, 0.1133, 0.1133, 0.1133]],
    ["7.1 wide", 0xff, [0.1464, 0.1464, 0.2071, 0, 0.1036, 0.1036, 0.1464, 0.1464]],
    ["six channels with a mask of two", 0x3, [0.2071, 0.2071, 0.2929, 0, 0.1464, 0.1464]],
  ])("at the levels of ffmpeg: %s", (_, mask, levels) => {
    for (const [i, share] of channelShares(levels.length, mask).entries()) expect(share).toBeCloseTo(levels[i]!, 2);
  });

  const stereo = (mix: (value: number) => readonly [number, number], ms = 400): Int16Array =>
    decodeWav(buildWav({ tag: 1, bits: 16, channels: 2, frames: frames(500, ms).map(([v = 0]) => mix(v)) })).samples;

  test.each<[string, (value: number) => readonly [number, number]]>([
    ["inverted", (value) => [value, -value]],
    ["inverted and a little quieter", (value) => [value, -0.9 * value]],
    ["inverted, with an offset on both", (value) => [value + 0.05, -value + 0.05]],
  ])("but if one is %s, the other is heard at its level", (_, mix) => {
    const samples = stereo(mix);
    expect(samples.length).toBe(3200);
    expect(toneShare(samples, 500, 8000)).toBeGreaterThan(0.97);
    expect(Math.max(...samples)).toBeGreaterThan(16_000);
  });

  test("and a change between kinds makes no click", () => {
    const invertedFrames = frames(500, 1000).map(([v = 0], i) => [v, i > 3000 && i < 6000 ? -v : v]);
    const { samples } = decodeWav(buildWav({ tag: 1, bits: 16, channels: 2, frames: invertedFrames }));
    const steps = Array.from(samples.subarray(1), (sample, i) => Math.abs(sample - samples[i]!));
    // The tone reverses twice, within 5 ms.
    expect(toneShare(samples.subarray(0, 3000), 500, 8000)).toBeGreaterThan(0.98);
    expect(Math.max(...steps)).toBeLessThan(6600 * 1.6);
  });

  test("a voice only in the subwoofer is heard", () => {
    const subwooferFrames = frames(500, 200).map(([v = 0]) => [0, 0, v]);
    const { samples } = decodeWav(buildWav({ tag: 1, bits: 16, channels: 3, frames: subwooferFrames }));
    expect(Math.max(...samples)).toBeGreaterThan(16_000);
  });
});

const parts = fc.constantFrom<Uint8Array>(
  shortFile,
  highFile.subarray(0, 501),
  stereoFile.subarray(0, 900),
  chunk("LIST", letters("INFO1")),
  chunk("what", letters("ever1")),
  Uint8Array.from(letters("RIFF\x10\0\0\0WAVE")),
  concatBytes([letters("TAG"), new Uint8Array(125)]),
  new Uint8Array(40),
  buildWav({ tag: 2, bits: 4, frames: [] }),
  buildWav({ tag: 1, bits: 24, channels: 3, frames: frames(500, 5, 8000, 3), container: "RF64" }),
);

fuzz(
  "every byte of a WAV file is counted once, however it is cut",
  fc.property(
    fc.array(fc.oneof(parts, fc.uint8Array({ maxLength: 50 })), { minLength: 1, maxLength: 5 }),
    fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 4 }),
    fc.integer({ min: 1, max: 400 }),
    fc.boolean(),
    (pieces, edits, size, isFile) => {
      const file = concatBytes(pieces);
      for (const [at, value] of edits) if (file.length > 0) file[at % file.length] = value;
      const attempt = (length: number): DecodedParts | string => {
        try {
          return decodeParts(file, length, isFile);
        } catch (error) {
          if (!(error instanceof AudioFormatError)) throw error;
          return error.message;
        }
      };
      const wholeResult = attempt(file.length || 1);
      if (typeof wholeResult !== "string") expect(sumOf(wholeResult.bytes)).toBe(file.length);
      expect(attempt(size)).toEqual(wholeResult);
    },
  ),
);
