import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mp3Stream } from "../../../adapters/audio/mp3-stream.ts";
import { SpokenBody } from "../../../adapters/speech/spoken-body.ts";
import { concatPcm, pcmToBytes } from "../../../src/audio/samples/pcm.ts";
import { resampleStream } from "../../../src/audio/samples/resample-stream.ts";
import { tone } from "../../../src/audio/tones/tone.ts";
import { wavHeader } from "../../../src/audio/wav/wav-header.ts";
import { concatBytes } from "../../../src/base/concat-bytes.ts";
import type { PcmChunk } from "../../../src/ports/media.ts";
import { fuzz } from "../../support/fuzz.ts";
import { gappedMp3, stereoMp3, toneMs, vbrMp3 } from "../../support/tone-files.ts";

const RATE = 16_000;
const SOUND = tone(1_000, 600, RATE, 8_000);
const BYTES = pcmToBytes(SOUND);

/** A WAV header that claims this many bytes of samples. */
function headerOf(dataBytes: number, sampleRate = RATE): Uint8Array {
  const header = wavHeader({ sampleRate });
  new DataView(header.buffer).setUint32(40, dataBytes, true);
  return header;
}

async function decode(bytes: Uint8Array, pieceBytes: number, contentType = "audio/pcm"): Promise<PcmChunk[]> {
  const body = new SpokenBody({ contentType, sampleRate: RATE, mp3Stream });
  const chunks: PcmChunk[] = [];
  for (let offset = 0; offset < bytes.length; offset += pieceBytes)
    chunks.push(...(await body.push(bytes.subarray(offset, offset + pieceBytes))));
  chunks.push(...(await body.finish()));
  body.close();
  return chunks;
}

/** Length of the audible tone, ms. */
async function heardMs(chunks: PcmChunk[]): Promise<number> {
  const pieces: Int16Array[] = [];
  async function* stream(): AsyncGenerator<PcmChunk> {
    yield* chunks;
  }
  for await (const piece of resampleStream(stream(), RATE)) pieces.push(piece);
  return toneMs(concatPcm(pieces), RATE);
}

describe("a speech server's WAV", () => {
  test.for([
    ["a placeholder of 0x7FFFFFFF", 0x7fff_ffff],
    ["a placeholder of 0x7FFFF024", 0x7fff_f024],
    ["a placeholder of 2,000,000,000", 2_000_000_000],
    ["all ones", 0xffff_ffff],
    ["zero", 0],
    ["more than was sent", BYTES.length + 50_000],
  ] as const)("is played to the end if its stated length is %s", async ([, claim]) => {
    for (const pieceBytes of [1, 997, 4_801, 1_000_000])
      expect(await heardMs(await decode(concatBytes([headerOf(claim), BYTES]), pieceBytes))).toBeGreaterThan(580);
  });

  test("is played without the headers if each chunk repeats the header", async () => {
    const half = BYTES.subarray(0, BYTES.length / 2);
    for (const claim of [half.length, 0x7fff_ffff, 0]) {
      const body = concatBytes([headerOf(claim), half, headerOf(claim), half]);
      const chunks = await decode(body, 3_000);
      expect(chunks.reduce((sum, { samples }) => sum + samples.length, 0)).toBe(SOUND.length);
      expect(await heardMs(chunks)).toBeGreaterThan(560);
    }
  });

  test("is played at both rates if it joins two", async () => {
    const fasterAudio = pcmToBytes(tone(1_000, 600, 24_000, 8_000));
    const chunks = await decode(
      concatBytes([headerOf(BYTES.length), BYTES, headerOf(fasterAudio.length, 24_000), fasterAudio]),
      5_000,
    );
    expect(new Set(chunks.map(({ sampleRate }) => sampleRate))).toEqual(new Set([RATE, 24_000]));
    expect(await heardMs(chunks)).toBeGreaterThan(1_100);
  });

  test("is an error if a part is unreadable, but not if a line break follows", async () => {
    const gsm = headerOf(BYTES.length);
    new DataView(gsm.buffer).setUint16(20, 49, true);
    const first = concatBytes([headerOf(BYTES.length), BYTES]);
    await expect(decode(concatBytes([first, gsm, BYTES]), 4_000)).rejects.toThrow("not audio");
    expect(await heardMs(await decode(concatBytes([first, new Uint8Array([13, 10])]), 4_000))).toBeGreaterThan(580);
  });

  test("yields no samples if it has none, and is refused if it has no data chunk", async () => {
    expect(await decode(headerOf(0), 10)).toEqual([]);
    await expect(decode(headerOf(0).subarray(0, 36), 10)).rejects.toThrow("before any audio data");
  });
});

test.for([
  ["44.1 kHz, stereo, with tags", stereoMp3],
  ["16 kHz, variable bit rate", vbrMp3],
  ["8 kHz", gappedMp3],
] as const)("an MP3 (%s) is decoded whatever its content type", async ([, file]) => {
  for (const contentType of ["audio/pcm", "audio/mpeg", "application/json"])
    expect(await heardMs(await decode(file, 1_500, contentType))).toBeGreaterThan(2_900);
});

test("an MP3 is refused without a decoder", async () => {
  const body = new SpokenBody({ contentType: "audio/pcm", sampleRate: RATE });
  await expect(body.push(vbrMp3)).rejects.toThrow("it sent MP3, instead of samples");
});

test("G.711 is decoded by its content type", async () => {
  const { encodeAlaw, encodeMulaw } = await import("../../../src/audio/samples/g711-companding.ts");
  const sound = tone(1_000, 600, 8_000, 8_000);
  expect(await heardMs(await decode(encodeMulaw(sound), 700, "audio/basic"))).toBeGreaterThan(560);
  expect(await heardMs(await decode(encodeAlaw(sound), 700, "audio/PCMA;rate=8000"))).toBeGreaterThan(560);
});

fuzz(
  "any body's samples, or its refusal, do not depend on its pieces",
  fc.asyncProperty(
    fc.oneof(
      fc.uint8Array({ maxLength: 2_000 }),
      fc
        .tuple(fc.nat(), fc.uint8Array({ maxLength: 500 }))
        .map(([claim, tail]) => concatBytes([headerOf(claim), tail])),
    ),
    fc.integer({ min: 1, max: 700 }),
    async (bytes, pieceBytes) => {
      const outcome = (chunks: Promise<PcmChunk[]>) =>
        chunks.then(
          (pieces) => concatPcm(pieces.map(({ samples }) => samples)).join(),
          (error: Error) => error.name,
        );
      expect(await outcome(decode(bytes, pieceBytes))).toBe(await outcome(decode(bytes, 100_000)));
    },
  ),
);
