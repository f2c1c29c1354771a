import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_PACKET_MS, MAX_PAYLOAD_BYTES } from "../../../../adapters/sip-stack/media/codecs/codec.ts";
import { createG722 } from "../../../../adapters/sip-stack/media/codecs/g722.ts";
import { rms } from "../../../../src/audio/samples/pcm.ts";
import { tone, toneShare } from "../../../../src/audio/tones/tone.ts";
import { fuzz } from "../../../support/fuzz.ts";
import { largestStep, passThrough } from "../simulated-network.ts";

const RATE = 16_000;
const FRAME = RATE / 50;
const MAX_SAMPLES = (RATE * MAX_PACKET_MS) / 1000;
/** Delay of both filters together, samples. */
const DELAY = 22;

/** Encodes and decodes, in packets of this many samples. */
function roundTrip(samples: Int16Array, frame = FRAME): Int16Array {
  const codec = createG722();
  const heard = new Int16Array(samples.length);
  const bytes = new Uint8Array(3 + MAX_PAYLOAD_BYTES);
  for (let at = 0; at + frame <= samples.length; at += frame) {
    const length = codec.encode(samples.subarray(at, at + frame), bytes, 3);
    expect(length).toBe(frame / 2);
    expect(codec.decode(bytes, 3, length, heard, at)).toBe(frame);
  }
  return heard;
}

/** Ratio of the signal to the error, dB, once the step sizes have adapted. */
function signalToNoise(sent: Int16Array, heard: Int16Array): number {
  let [signal, noise] = [0, 0];
  for (let i = RATE / 10; i + DELAY < sent.length; i++) {
    signal += sent[i]! ** 2;
    noise += (heard[i + DELAY]! - sent[i]!) ** 2;
  }
  return 10 * Math.log10(signal / noise);
}

test("the RTP clock runs at 8 kHz, and the samples at 16 kHz", () => {
  const { name, sampleRate, clockRate } = createG722();
  expect([name, sampleRate, clockRate]).toEqual(["G722", RATE, 8_000]);
});

test("bytes and samples match another implementation", () => {
  // Output of ffmpeg 5.1.
  const codec = createG722();
  const samples = Int16Array.from({ length: FRAME }, (_, i) => ((i * 1201 + i * i * 7) % 20_000) - 10_000);
  const bytes = new Uint8Array(FRAME / 2);
  codec.encode(samples, bytes, 0);
  expect(Buffer.from(bytes).toString("hex")).toBe(
    "2e8420852284049218be35b028be0c997e35af2b0e955f36b12c0e997cf76b9dd079f92b9cd176f72f0dfefc6e995075f62c1077f32e10f9" +
      "6d9751f7709d57f02f10f76d9ed66b96d4b43112f53110773310787310787212f670156f99d66f9fdf2e106f98d7730d7494d4740e7698d7" +
      "7252719ef89ad2321170baf1bffd9cd16d562e146f52754f7c0c77b872b371b373b27a107a527756725e70359b5b9f7a",
  );
  const heard = new Int16Array(FRAME);
  codec.decode(bytes, 0, bytes.length, heard, 0);
  expect([...heard.subarray(-20)]).toEqual([
    ...[4978, 9092, -4885, 1696, 4544, -10948, -3308, 2170, 3735, -7402],
    ...[-3989, 3345, 4982, -6280, -2915, 3175, 7219, -4824, -2136, 3709],
  ]);
});

describe("a tone is preserved", () => {
  test.each([
    [440, 40],
    [5_000, 15],
    [6_500, 15],
  ])("at %i Hz", (hz, minDb) => {
    const sent = tone(hz, 2_000, RATE, 8_000);
    const heard = roundTrip(sent);
    expect(toneShare(heard.subarray(RATE / 10), hz, RATE)).toBeGreaterThan(0.97);
    expect(rms(heard) / rms(sent)).toBeCloseTo(1, 1);
    expect(signalToNoise(sent, heard)).toBeGreaterThan(minDb);
  });

  test.each([10, 30, 60])("in packets of %i ms", (ms) => {
    const sent = tone(440, 600, RATE, 8_000);
    expect(roundTrip(sent, (RATE * ms) / 1000)).toEqual(roundTrip(sent));
  });
});

test("silence stays silent", () => {
  expect(Math.max(...roundTrip(new Int16Array(RATE)).map(Math.abs))).toBeLessThan(8);
});

test("two streams are independent", () => {
  const reference = roundTrip(tone(440, 400, RATE, 8_000));
  const otherCodec = createG722();
  const [bytes, samples] = [new Uint8Array(MAX_PAYLOAD_BYTES), new Int16Array(FRAME)];
  const codec = createG722();
  const sent = tone(440, 400, RATE, 8_000);
  for (let at = 0; at < sent.length; at += FRAME) {
    codec.encode(sent.subarray(at, at + FRAME), bytes, 0);
    codec.decode(bytes, 0, FRAME / 2, samples, 0);
    expect(samples).toEqual(reference.subarray(at, at + FRAME));
    otherCodec.encode(tone(5_000, 20, RATE, 30_000), bytes, 0);
    otherCodec.decode(bytes, 0, FRAME / 2, samples, 0);
  }
});

describe("on a network", () => {
  const sent = tone(440, 4_000, RATE, 8_000);

  test("without loss, every sample is played at its time", () => {
    const { heard, buffer } = passThrough(sent, { delivers: () => [20], packets: 220, codec: createG722() });
    const first = heard.findIndex((sample) => Math.abs(sample) > 1_000);
    const last = heard.findLastIndex((sample) => Math.abs(sample) > 1_000);
    expect(Math.abs(last - first - sent.length)).toBeLessThan(40);
    expect(buffer.late).toBe(0);
    expect(toneShare(heard.subarray(first, last), 440, RATE)).toBeGreaterThan(0.99);
  });

  test.each([1, 3])("that loses %i in a row, the gap is filled without a click", (burst) => {
    const reference = passThrough(sent, { delivers: () => [20], packets: 200, codec: createG722() }).heard;
    const delivers = (i: number) => (i % 23 >= 23 - burst ? undefined : [20]);
    const { heard } = passThrough(sent, { delivers, packets: 200, codec: createG722() });
    expect(largestStep(heard)).toBeLessThan(1.5 * largestStep(reference) + 500);
    expect(toneShare(heard.subarray(RATE / 2, 3 * RATE), 440, RATE)).toBeGreaterThan(burst === 1 ? 0.95 : 0.8);
  });

  test.each([200, -200])("with a clock off by %i ppm, the delay stays the same", (ppm) => {
    const minute = tone(440, 60_000, RATE, 8_000);
    const { heard, buffer } = passThrough(minute, { delivers: () => [20], packets: 3_050, ppm, codec: createG722() });
    const first = heard.findIndex((sample) => Math.abs(sample) > 1_000);
    const last = heard.findLastIndex((sample) => Math.abs(sample) > 1_000);
    expect(buffer.late).toBe(0);
    expect(Math.abs((last - first) / 16 - 60_000 / (1 + ppm / 1e6))).toBeLessThan(70);
  });
});

fuzz(
  "decoding arbitrary bytes stays within the output, and the next tone is heard",
  fc.property(fc.uint8Array({ maxLength: 1_200 }), fc.nat(300), fc.nat(1_500), (bytes, at, length) => {
    const codec = createG722();
    const output = new Int16Array(7 + MAX_SAMPLES + 1).fill(77);
    const samples = codec.decode(bytes, at, length, output, 7);
    if (samples < 0 || samples > MAX_SAMPLES || samples > 2 * length) throw new Error(`${samples} samples`);
    if (output[6] !== 77 || output[7 + samples] !== 77) throw new Error("samples were written beyond the output");
    const packet = new Uint8Array(MAX_PAYLOAD_BYTES);
    const sent = tone(440, 100, RATE, 8_000);
    const heard = new Int16Array(sent.length);
    for (let i = 0; i < sent.length; i += FRAME)
      codec.decode(packet, 0, codec.encode(sent.subarray(i, i + FRAME), packet, 0), heard, i);
    if (toneShare(heard.subarray(-FRAME), 440, RATE) < 0.9) throw new Error("the tone was not heard");
  }),
);
