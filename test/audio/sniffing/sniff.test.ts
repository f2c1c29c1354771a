import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sniff } from "../../../src/audio/sniffing/sniff.ts";
import { fuzz } from "../../support/fuzz.ts";
import { random } from "../../support/random.ts";
import { whiteNoise } from "../noise.ts";
import { buildWav, concatBytes, letters } from "../wav/wav-files.ts";

/** A layer III frame with an empty body: header bytes 2 to 4 and the resulting length. */
function frame(second: number, third: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  bytes.set([0xff, second, third, 0xc4]);
  return bytes;
}

/** 44.1 kHz, 128 kbit/s, MPEG 1: 417 bytes. */
const FRAME = frame(0xfb, 0x90, 417);

function id3(size: number, flags = 0): Uint8Array {
  const sizeBytes = [21, 14, 7, 0].map((shift) => (size >> shift) & 0x7f);
  return concatBytes([
    letters("ID3\x04\x00"),
    [flags],
    sizeBytes,
    new Uint8Array(size),
    new Uint8Array(flags & 0x10 ? 10 : 0),
  ]);
}

/** An APEv2 tag with header and footer. */
function ape(size: number): Uint8Array {
  const tag = new Uint8Array(32 + size).fill(0x20, 32);
  tag.set(letters("APETAGEX"));
  new DataView(tag.buffer).setUint32(12, size, true);
  new DataView(tag.buffer).setUint32(20, 0xa000_0000, true);
  return tag;
}

/** A tag of non-zero bytes, whose size is not syncsafe. */
function plainId3(size: number): Uint8Array {
  const tag = new Uint8Array(10 + size).fill(0x41);
  tag.set(letters("ID3\x03\x00\x00"));
  new DataView(tag.buffer).setUint32(6, size);
  return tag;
}

describe("MP3", () => {
  test.each<[string, Uint8Array]>([
    ["44.1 kHz", concatBytes([FRAME, FRAME, FRAME])],
    ["changing bit rates", concatBytes([FRAME, frame(0xfb, 0xb0, 626), FRAME])],
    ["padding bytes", concatBytes([frame(0xfb, 0x92, 418), FRAME, frame(0xfb, 0x92, 418)])],
    ["16 kHz, MPEG 2", concatBytes([frame(0xf3, 0x48, 144), frame(0xf3, 0x48, 144), frame(0xf3, 0x48, 144)])],
    ["8 kHz, MPEG 2.5", concatBytes([frame(0xe3, 0x48, 288), frame(0xe3, 0x48, 288), frame(0xe3, 0x48, 288)])],
    ["a tag before it", concatBytes([id3(5000), FRAME, FRAME, FRAME])],
    ["two tags before it, one with a footer", concatBytes([id3(300, 0x10), id3(129), FRAME, FRAME, FRAME])],
    ["leading zeros", concatBytes([new Uint8Array(100_000), FRAME, FRAME, FRAME])],
    ["a tag and zeros before it", concatBytes([id3(100), new Uint8Array(8192), FRAME, FRAME, FRAME])],
    ["an APE tag before it", concatBytes([ape(6000), FRAME, FRAME, FRAME])],
    ["a tag whose size is a plain number", concatBytes([plainId3(200_000), FRAME, FRAME, FRAME])],
    ["a tag that claims more than the file", concatBytes([id3(300).fill(0x7f, 6, 10), FRAME, FRAME, FRAME])],
    ["64 KB of other bytes before it", concatBytes([new Uint8Array(65_535).fill(1), FRAME, FRAME, FRAME])],
    ["the end of a frame before it", concatBytes([FRAME.subarray(200), FRAME, FRAME, FRAME])],
  ])("is recognised with %s", (_, bytes) => {
    expect(sniff(bytes)).toBe("mp3");
  });

  test.each<[string, Uint8Array]>([
    ["two frames", concatBytes([FRAME, FRAME])],
    ["frames of two rates", concatBytes([FRAME, frame(0xfb, 0x94, 384), FRAME])],
    ["frames beyond the first 64 KB", concatBytes([new Uint8Array(65_536).fill(1), FRAME, FRAME, FRAME])],
    ["layer II", concatBytes([frame(0xfd, 0x90, 417), frame(0xfd, 0x90, 417), frame(0xfd, 0x90, 417)])],
    ["free-format frames", concatBytes([frame(0xfb, 0x00, 417), frame(0xfb, 0x00, 417), frame(0xfb, 0x00, 417)])],
  ])("is not recognised in %s", (_, bytes) => {
    expect(sniff(bytes)).toMatchObject({ unsupported: expect.any(String) });
  });

  test("is not found in random or raw bytes", () => {
    const next = random(1);
    for (let i = 0; i < 2000; i++) {
      expect(sniff(Uint8Array.from({ length: 4096 }, () => next() * 256))).not.toBe("mp3");
    }
    for (let i = 0; i < 200; i++) {
      expect(sniff(new Uint8Array(whiteNoise(2048, 20 * (i + 1), i).buffer))).not.toBe("mp3");
    }
  });
});

test("free-format MP3 is named", () => {
  const freeFormat = frame(0xfb, 0x00, 522);
  expect(sniff(concatBytes([id3(20), freeFormat, freeFormat, freeFormat]))).toEqual({ unsupported: "free-format MP3" });
});

test("WAV is recognised after tags and other bytes", () => {
  const wav = buildWav({ tag: 1, bits: 16, frames: [[0]] });
  for (const before of [id3(300), letters("\xef\xbb\xbf"), letters("--boundary\r\n\r\n")])
    expect(sniff(concatBytes([before, wav]))).toBe("wav");
});

test("WAV is recognised as RIFF and as RF64", () => {
  expect(sniff(buildWav({ tag: 1, bits: 16, frames: [[0]] }))).toBe("wav");
  expect(sniff(buildWav({ tag: 1, bits: 16, frames: [[0]], container: "RF64" }))).toBe("wav");
});

test.each([
  ["OggS\0\x02", /Ogg/],
  ["fLaC\0\0", /FLAC/],
  ["\0\0\0\x20ftypM4A ", /MP4/],
  ["FORM\0\0\0\0AIFF", /AIFF/],
  ["RIFF\0\0\0\0AVI LIST", /AVI/],
  ["RIFX\0\0\0\0WAVE", /RIFX/],
  ["#!AMR\n", /AMR/],
  ["\x1a\x45\xdf\xa3", /WebM/],
  ["\xff\xf1\x50\x80\x02\x1f\xfc", /AAC/],
  ["<!doctype html>", /HTML/],
  ['{"audio":1}', /JSON/],
  ["hello", /^text$/],
  ["\xef\xbb\xbf \n[1, 2, 3]", /JSON/],
  ["\r\n\t<html><body>", /HTML/],
  ["HTTP/1.1 404 Not Found\r\n\r\n", /HTTP response/],
  ["data:audio/mpeg;base64,SUQzBAAAAAAA", /Base64/],
  ["\xff\xfeh\0e\0l\0l\0o\0", /^text$/],
  [`\x9c\x31\x3c\x27${"\x01".repeat(124)}`.repeat(3), /^SBC$/],
  ["\xff\xfd\xa0\xc4\0\0", /^MPEG layer II$/],
  ["RIFF", /a truncated WAV header/],
  ["RIFF\x24\0\0\0WA", /a truncated WAV header/],
  ["\x02\x68\x65\x6c", /02 68 65 6c/],
  ["\x01", /begins with 01/],
  ["", /empty/],
])("%j is refused by name", (opening, name) => {
  expect(sniff(Uint8Array.from(letters(opening)))).toEqual({ unsupported: expect.stringMatching(name) });
});

test("the bytes after an ID3 tag decide, and a tag alone is refused", () => {
  expect(sniff(concatBytes([id3(20), letters("fLaC")]))).toEqual({ unsupported: "FLAC" });
  expect(sniff(id3(20))).toEqual({ unsupported: expect.stringMatching(/tags without audio/) });
  expect(sniff(id3(9000).subarray(0, 4096))).toEqual({ unsupported: expect.stringMatching(/tags without audio/) });
});

const pieces = fc.oneof(
  fc.uint8Array({ maxLength: 600 }),
  fc.constantFrom(FRAME, id3(3), id3(0), Uint8Array.from(letters("RIFF")), Uint8Array.from(letters("WAVE"))),
);

fuzz(
  "any bytes get one of three results with a short name",
  fc.property(fc.array(pieces, { maxLength: 8 }), (parts) => {
    const result = sniff(concatBytes(parts));
    if (typeof result === "string") expect(["wav", "mp3"]).toContain(result);
    else {
      expect(result.unsupported.length).toBeGreaterThan(0);
      expect(result.unsupported.length).toBeLessThan(80);
    }
  }),
);
