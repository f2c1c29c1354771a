import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bunzip2 } from "../../../../adapters/local-models/installation/bzip2.ts";
import { InstallFault } from "../../../../adapters/local-models/installation/install-fault.ts";
import { concatBytes } from "../../../../src/base/concat-bytes.ts";
import { BitWriter, bzip2, writeBlockHead } from "../../../support/bzip2.ts";
import { fuzz } from "../../../support/fuzz.ts";

const REFUSED = "refused";

/** Decompresses bzip2 data that arrives in pieces; returns `REFUSED` if it is refused. */
async function decompress(data: Uint8Array, pieceLength = 1_000): Promise<Uint8Array | typeof REFUSED> {
  const pieces: Uint8Array[] = [];
  try {
    for await (const piece of bunzip2(splitIntoPieces(data, pieceLength))) pieces.push(piece);
    return concatBytes(pieces);
  } catch (error) {
    if (error instanceof InstallFault) return REFUSED;
    throw error;
  }
}

async function* splitIntoPieces(data: Uint8Array, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < data.length; at += length) yield data.subarray(at, at + length);
}

function text(bytes: Uint8Array | typeof REFUSED): string {
  return bytes === REFUSED ? bytes : new TextDecoder().decode(bytes);
}

const base64 = (data: string): Uint8Array => Uint8Array.from(Buffer.from(data, "base64"));

describe("data compressed with bzip2", () => {
  it.each([
    ["nothing", "QlpoORdyRThQkAAAAAA=", ""],
    ["one letter", "QlpoMTFBWSZTWRmTm2sAAAABACAAIAAhGEaC7kinChIDMnNtYA==", "a"],
    [
      "a text",
      "QlpoOTFBWSZTWfWh0AsAABYVlGAEAACEB4IAIAAIACAAQFKpoGmQgaBocRiMxqOo+jyMRqMxqNxuPxdyRThQkPWh0As=",
      "Olá, mundo! ".repeat(9),
    ],
    [
      "four blocks",
      "QlpoMTFBWSZTWR7YY7UAE4cBAD/wIABwQAwClUMJnFQVHlUFR6qCo+VBUYVBUZVBUaVBUbVBUfqgqOKgqOmKCskymst9hr3AAThwCAH/gQADggBgFKoYTOKgqPFQVHtUFR8qCowqCoyqCo0qCo2qCo/VBUcVBUdMUFZJlNZZusS1AA6lQEAP/AgAHBADAKVQwmcVBUeKgqPVQVH1UFRhUFRlUFRpUFRtUFR+qCo4qCo6YoKyTKazyBmVbgAADwIAf+BAAGIAYCKE0MxISUmk4Nj0fD8cHRdyRThQkGHarFY=",
      "abcdefghij".repeat(30_000),
    ],
    ["long runs", "QlpoOTFBWSZTWd9HTW8AAkxAgMAABAAACCAAMMwFKaYURsRRHi7kinChIb6Omt4=", "\0".repeat(300_000)],
  ])("is decompressed: %s", async (_, data, expected) => {
    expect(text(await decompress(base64(data)))).toBe(expected);
  });

  it("can have several streams, as parallel compressors write them", async () => {
    const [hello, world] = ["hello ", "world"].map((part) => bzip2(new TextEncoder().encode(part)));
    expect(text(await decompress(concatBytes([hello!, world!])))).toBe("hello world");
  });
});

describe("other data", () => {
  const data = bzip2(new TextEncoder().encode("some text that compresses, some text that compresses"));

  it.each([
    ["no bytes", new Uint8Array(0)],
    ["an HTML document", new TextEncoder().encode("<html>not found</html>")],
    ["a stream followed by other bytes", concatBytes([data, Uint8Array.of(1, 2, 3)])],
    ["a stream without its end", data.subarray(0, data.length - 5)],
    ["a header only", data.subarray(0, 4)],
  ])("is refused: %s", async (_, bytes) => {
    expect(await decompress(bytes)).toBe(REFUSED);
  });

  it("is refused if a run is longer than its block, after little work", async () => {
    const bits = new BitWriter().write(0x425a68, 24).write(0x39, 8);
    writeBlockHead(bits, 0, 0, [0x61]);
    bits.write(2, 3).write(1, 15).write(0, 1);
    // Codes for the digits 1 and 2 and for the end: 0, 10, 11.
    for (let code = 0; code < 2; code++) bits.write(1, 5).write(0, 1).write(0b100, 3).write(0, 1);
    for (let digit = 0; digit < 45; digit++) bits.write(0, 1);
    bits.write(0b11, 2);
    expect(await decompress(bits.bytes())).toBe(REFUSED);
  });

  fuzz(
    "is refused, whatever its bytes are",
    fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), async (bytes) => {
      expect(await decompress(bytes)).toBe(REFUSED);
      expect(await decompress(concatBytes([data.subarray(0, 20), bytes]))).toBe(REFUSED);
    }),
  );

  fuzz(
    "is refused, or decompressed unchanged, if a byte is corrupted",
    fc.asyncProperty(fc.nat(data.length - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
      const corruptedData = Uint8Array.from(data);
      corruptedData[at]! ^= change;
      const result = await decompress(corruptedData);
      if (result !== REFUSED) expect(text(result)).toBe(text(await decompress(data)));
    }),
  );

  fuzz(
    "is refused if it is cut short",
    fc.asyncProperty(fc.nat(data.length - 1), async (length) => {
      expect(await decompress(data.subarray(0, length))).toBe(REFUSED);
    }),
  );
});

fuzz(
  "bytes are restored, however they are cut",
  fc.asyncProperty(
    fc.array(fc.tuple(fc.uint8Array({ maxLength: 30 }), fc.nat(300)), { maxLength: 20 }),
    fc.integer({ min: 1, max: 50 }),
    async (parts, pieceLength) => {
      const bytes = concatBytes(
        parts.map(([part, repeats]) => concatBytes(Array.from({ length: repeats }, () => part))),
      );
      expect(await decompress(bzip2(bytes), pieceLength)).toEqual(bytes);
    },
  ),
);

it("megabytes from a small archive arrive in small pieces", async () => {
  const bomb = bzip2(new Uint8Array(3_000_000));
  expect(bomb.length).toBeLessThan(30_000);
  let [maxLength, totalLength] = [0, 0];
  for await (const { length } of bunzip2(splitIntoPieces(bomb, bomb.length))) {
    maxLength = Math.max(maxLength, length);
    totalLength += length;
  }
  expect(totalLength).toBe(3_000_000);
  expect(maxLength).toBeLessThanOrEqual(256 << 10);
});
