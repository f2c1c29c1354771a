import * as fc from "fast-check";
import { expect, test } from "vitest";
import { concatPcm } from "../../../src/audio/samples/pcm.ts";
import { Resampler } from "../../../src/audio/samples/resample.ts";
import { resampleStream } from "../../../src/audio/samples/resample-stream.ts";
import type { PcmChunk } from "../../../src/ports/media.ts";
import { fuzz } from "../../support/fuzz.ts";

function noise(length: number, seed: number): Int16Array {
  let state = seed * 7919 + 1;
  return Int16Array.from({ length }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return state % 20_000;
  });
}

async function* stream(pieces: readonly Int16Array[], sampleRate = 16_000): AsyncGenerator<PcmChunk> {
  for (const samples of pieces) yield { sampleRate, samples };
}

async function convert(pieces: readonly Int16Array[], to = 8_000, from = 16_000): Promise<Int16Array[]> {
  const output: Int16Array[] = [];
  for await (const piece of resampleStream(stream(pieces, from), to)) output.push(piece);
  return output;
}

function resampleAll(pieces: readonly Int16Array[], to = 8_000): Int16Array {
  const resampler = new Resampler(16_000, to);
  return concatPcm([...pieces.map((piece) => resampler.push(piece)), resampler.flush()]);
}

test("pieces repeated in the same order yield the same arrays", async () => {
  const pieces = [noise(1000, 1), noise(500, 2), noise(2000, 3)];
  const [first, second] = [await convert(pieces), await convert(pieces)];
  expect(second).toHaveLength(first.length);
  for (const [i, piece] of second.entries()) expect(piece).toBe(first[i]);
  expect(concatPcm(first)).toEqual(resampleAll(pieces));
});

test("streams that run at the same time convert a piece once", async () => {
  const pieces = [noise(9000, 1), noise(500, 2), noise(20_000, 3)];
  const [first, second, third] = await Promise.all([convert(pieces), convert(pieces), convert(pieces)]);
  for (const [i, piece] of first.entries()) {
    expect(second[i]).toBe(piece);
    expect(third[i]).toBe(piece);
  }
  expect(concatPcm(first)).toEqual(resampleAll(pieces));
});

test("a piece that repeats is converted once in each place", async () => {
  const piece = noise(9000, 1);
  const pieces = [piece, noise(500, 2), piece, piece, noise(700, 3)];
  const [first, second] = [await convert(pieces), await convert(pieces)];
  for (const [i, samples] of first.entries()) expect(second[i]).toBe(samples);
  expect(concatPcm(first)).toEqual(resampleAll(pieces));
});

test("a stream continues where the one that converts has ended early", async () => {
  const pieces = [noise(9000, 1), noise(500, 2), noise(20_000, 3)];
  const endedEarly = resampleStream(stream(pieces), 8_000);
  const converted = convert(pieces);
  await endedEarly.next();
  await endedEarly.return();
  expect(concatPcm(await converted)).toEqual(resampleAll(pieces));
});

test("pieces at equal rates pass unchanged", async () => {
  const pieces = [noise(1000, 1), noise(500, 2)];
  expect((await convert(pieces, 16_000)).slice(0, 2)).toEqual(pieces);
  expect((await convert(pieces, 16_000))[0]).toBe(pieces[0]);
});

fuzz(
  "repeated pieces in any order yield the samples of a resampler",
  fc.asyncProperty(
    fc.array(fc.array(fc.nat(4), { maxLength: 6 }), { maxLength: 6 }),
    fc.constantFrom(8_000, 48_000, 11_025),
    async (orders, to) => {
      const pieces = [noise(300, 1), noise(7, 2), noise(0, 3), noise(161, 4), noise(64, 5)];
      const check = async (order: readonly number[]): Promise<void> => {
        const chosenPieces = order.map((n) => pieces[n]!);
        const expected = chosenPieces.length === 0 ? new Int16Array(0) : resampleAll(chosenPieces, to);
        expect(concatPcm(await convert(chosenPieces, to))).toEqual(expected);
      };
      for (const order of orders) await check(order);
      await Promise.all(orders.map(check));
    },
  ),
);
