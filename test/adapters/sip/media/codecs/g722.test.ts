import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Codec, LONGEST_PACKET_MS } from "../../../../../adapters/telephony/sip/media/codecs/codec.ts";
import { createG722 } from "../../../../../adapters/telephony/sip/media/codecs/g722.ts";
import { tone, toneShare } from "../../../../../src/audio/tone.ts";
import { fuzz } from "../../../../support/fuzz.ts";

const RATE = 16_000;
const FRAME = RATE / 50;

/** 440 Hz and 5,200 Hz for 20 ms: `ffmpeg -f s16le -ar 16000 -ac 1 -i sound.raw -f g722 sound.g722`. */
const BY_FFMPEG = [
  "b7188c2084a0a02022aa2aacaf369e991391911092571cbb3531ae2d2fb034f9be19d4d313d4d618dc7b38b26f71b07075f83f58d715",
  "d2d616d8dd3df77333f06e74b37a5e9e1853d714d3de5bbdb676b2ef74ef767abc5f579953d495579cfd3c73f232f06e78b35f5f9d55",
  "529851d7fc1cfef237f1ec32f5735cbf5d139953d5d81859f53af4ac72b3f178f67f169d5450d75ad4bf3e7eef36726c35f6741c",
].join("");

function encodeAll(codec: Codec, samples: Int16Array, frame = FRAME): Uint8Array {
  const bytes = new Uint8Array(samples.length / 2);
  for (let at = 0; at < samples.length; at += frame) codec.encode(samples.subarray(at, at + frame), bytes, at / 2);
  return bytes;
}

function decodeAll(codec: Codec, bytes: Uint8Array, packet = FRAME / 2): Int16Array {
  const samples = new Int16Array(2 * bytes.length);
  for (let at = 0; at < bytes.length; at += packet) codec.decode(bytes, at, packet, samples, 2 * at);
  return samples;
}

describe("G.722", () => {
  test("encodes to the bit as another encoder does (ffmpeg's)", () => {
    const [low, high] = [tone(440, 20, RATE, 9000), tone(5200, 20, RATE, 6000)];
    const samples = Int16Array.from(low, (sample, i) => sample + high[i]!);
    expect(Buffer.from(encodeAll(createG722(), samples)).toString("hex")).toBe(BY_FFMPEG);
  });

  test.each([440, 3000, 5000, 6500])("carries a tone of %i Hz", (hz) => {
    const heard = decodeAll(createG722(), encodeAll(createG722(), tone(hz, 500, RATE, 8000)));
    expect(toneShare(heard.subarray(FRAME), hz, RATE)).toBeGreaterThan(0.98);
  });

  test("decodes the same whatever the length of the packets", () => {
    const bytes = encodeAll(createG722(), tone(1234, 240, RATE, 8000));
    const inSixties = decodeAll(createG722(), bytes, 480);
    expect(decodeAll(createG722(), bytes)).toEqual(inSixties);
    expect(decodeAll(createG722(), bytes, 1)).toEqual(inSixties);
  });

  test("the loudest sound does not wrap", () => {
    const square = Int16Array.from({ length: RATE / 2 }, (_, i) => (i % 40 < 20 ? 32_767 : -32_768));
    const heard = decodeAll(createG722(), encodeAll(createG722(), square));
    expect(toneShare(heard.subarray(FRAME), 400, RATE)).toBeGreaterThan(0.75); // of a square wave 0.81
  });
});

fuzz(
  "whatever the bytes, as many samples come as belong to them, and no other is written",
  fc.property(
    fc.uint8Array({ maxLength: 1_200 }),
    fc.nat(40),
    fc.integer({ min: -5, max: 1_500 }),
    fc.nat(60),
    (bytes, at, length, start) => {
      const codec = createG722();
      const into = new Int16Array((RATE * LONGEST_PACKET_MS) / 1000 + start).fill(77);
      const samples = codec.decode(bytes, at, length, into, start);
      expect(samples).toBe(2 * Math.max(0, Math.min(length, bytes.length - at, 960)));
      expect(into.subarray(0, start).every((sample) => sample === 77)).toBe(true);
      expect(into.subarray(start + samples).every((sample) => sample === 77)).toBe(true);
    },
  ),
);
