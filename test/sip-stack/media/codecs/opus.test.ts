import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Codec, MAX_PACKET_MS, MAX_PAYLOAD_BYTES } from "../../../../adapters/sip-stack/media/codecs/codec.ts";
import { carriesRedundancy, createOpus } from "../../../../adapters/sip-stack/media/codecs/opus.ts";
import { tone, toneShare } from "../../../../src/audio/tones/tone.ts";
import { fuzz } from "../../../support/fuzz.ts";

const RATE = 16_000;
const FRAME = RATE / 50;

let opus: Codec;
beforeAll(async () => {
  opus = await createOpus();
});
afterAll(() => opus.close());

function newOutput(): Int16Array {
  return new Int16Array((RATE * MAX_PACKET_MS) / 1000);
}

/** A synthetic voice: pulses at a wandering pitch, through two resonances, in syllables. */
function voice(ms: number): Int16Array {
  const samples = new Int16Array((RATE * ms) / 1000);
  let phase = 0;
  const state = [0, 0, 0, 0];
  for (let i = 0; i < samples.length; i++) {
    const t = i / RATE;
    phase += (120 + 25 * Math.sin(2 * Math.PI * 0.7 * t)) / RATE;
    const pulse = phase >= 1 ? 1 : 0;
    phase %= 1;
    let x = pulse;
    for (const [n, hz, r] of [
      [0, 500 + 250 * Math.sin(2 * Math.PI * 1.3 * t), 0.97],
      [2, 1500 + 500 * Math.sin(2 * Math.PI * 0.9 * t), 0.95],
    ] as const) {
      const y = x + 2 * r * Math.cos((2 * Math.PI * hz) / RATE) * state[n]! - r * r * state[n + 1]!;
      state[n + 1] = state[n]!;
      state[n] = y;
      x = y;
    }
    samples[i] = Math.max(-32_000, Math.min(32_000, x * 900 * (0.6 + 0.4 * Math.sin(2 * Math.PI * 3 * t))));
  }
  return samples;
}

function encodeAll(codec: Codec, samples: Int16Array, frame = FRAME): Uint8Array[] {
  const packets: Uint8Array[] = [];
  const output = new Uint8Array(7 + MAX_PAYLOAD_BYTES);
  for (let at = 0; at + frame <= samples.length; at += frame) {
    const bytes = codec.encode(samples.subarray(at, at + frame), output, 7);
    packets.push(output.slice(7, 7 + bytes));
  }
  return packets;
}

/** Similarity of two stretches of sound, 0 to 1, at the best shift. */
function similarity(a: Int16Array, b: Int16Array): number {
  let best = 0;
  for (let shift = -40; shift <= 40; shift++) {
    let [product, energyA, energyB] = [0, 0, 0];
    for (let i = 40; i < a.length - 40; i++) {
      product += a[i]! * b[i + shift]!;
      energyA += a[i]! ** 2;
      energyB += b[i + shift]! ** 2;
    }
    best = Math.max(best, product / Math.sqrt(energyA * energyB || 1));
  }
  return best;
}

test("the RTP clock runs at 48 kHz, and the samples at 16 kHz", () => {
  expect([opus.name, opus.sampleRate, opus.clockRate]).toEqual(["opus", RATE, 48_000]);
});

test("a tone is heard at 20 kbit/s", async () => {
  const codec = await createOpus();
  const packets = encodeAll(codec, tone(440, 2000, RATE, 8000));
  const output = newOutput();
  const heard: number[] = [];
  for (const packet of packets) {
    expect(codec.decode(packet, 0, packet.length, output, 0)).toBe(FRAME);
    heard.push(...output.subarray(0, FRAME));
  }
  codec.close();
  expect(toneShare(Int16Array.from(heard.slice(3200)), 440, RATE)).toBeGreaterThan(0.9);
  const bitrate = (packets.reduce((sum, packet) => sum + packet.length, 0) * 8) / 2;
  expect(bitrate).toBeGreaterThan(8_000);
  expect(bitrate).toBeLessThan(26_000);
});

test.each([10, 20, 40, 60])("frames of %i ms are coded completely", (ms) => {
  const frame = (RATE * ms) / 1000;
  const output = newOutput();
  for (const packet of encodeAll(opus, voice(600), frame))
    expect(opus.decode(packet, 0, packet.length, output, 0)).toBe(frame);
});

describe("a packet that is lost", () => {
  /** Decodes a voice with every tenth packet lost; returns the similarity of each lost piece and its concealment. */
  async function similarityAfterLoss(
    conceal: (codec: Codec, next: Uint8Array, output: Int16Array) => number,
  ): Promise<number[]> {
    const codec = await createOpus();
    const reference = await createOpus();
    const packets = encodeAll(codec, voice(6000));
    const [output, expected] = [newOutput(), newOutput()];
    const similarities: number[] = [];
    for (let n = 0; n < packets.length; n++) {
      const packet = packets[n]!;
      const next = packets[n + 1]!;
      reference.decode(packet, 0, packet.length, expected, 0);
      if (n % 10 !== 5) expect(codec.decode(packet, 0, packet.length, output, 0)).toBe(FRAME);
      else if (!carriesRedundancy(next, 0, next.length)) codec.conceal!(FRAME, output, 0);
      else {
        expect(conceal(codec, next, output)).toBe(FRAME);
        similarities.push(similarity(output.subarray(0, FRAME), expected.subarray(0, FRAME)));
      }
    }
    codec.close();
    reference.close();
    return similarities;
  }

  test("is concealed, and better with the redundancy of the next packet", async () => {
    const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
    const concealed = await similarityAfterLoss((codec, _, output) => codec.conceal!(FRAME, output, 0));
    const recovered = await similarityAfterLoss((codec, next, output) =>
      codec.recover!(next, 0, next.length, FRAME, output, 0),
    );
    expect(recovered.length, "lost packets, of 30, with a copy in the next one").toBeGreaterThan(20);
    expect(mean(concealed)).toBeGreaterThan(0.3);
    expect(mean(recovered)).toBeGreaterThan(0.9);
    expect(mean(recovered)).toBeGreaterThan(mean(concealed));
  });

  test("a tenth of a second of concealment fades out without a click", async () => {
    const codec = await createOpus();
    const output = newOutput();
    for (const packet of encodeAll(codec, tone(300, 500, RATE, 8000)))
      codec.decode(packet, 0, packet.length, output, 0);
    let previous = output[FRAME - 1]!;
    const steps: number[] = [];
    for (let n = 0; n < 5; n++) {
      expect(codec.conceal!(FRAME, output, 0)).toBe(FRAME);
      for (let i = 0; i < FRAME; i++) {
        steps.push(Math.abs(output[i]! - previous));
        previous = output[i]!;
      }
    }
    codec.close();
    expect(Math.max(...steps)).toBeLessThan(8000 * 2 * Math.PI * (300 / RATE) * 2); // twice the tone's own steepest step
  });
});

test("a packet without redundancy recovers no audio", async () => {
  const { createEncoder } = await import("libopus-wasm");
  const encoder = await createEncoder({ sampleRate: RATE, channels: 1, bitrate: 20_000, fec: false });
  const samples = voice(400);
  for (let at = 0; at + FRAME <= samples.length; at += FRAME) {
    const packet = encoder.encode(samples.subarray(at, at + FRAME));
    expect(carriesRedundancy(packet, 0, packet.length)).toBe(false);
    expect(opus.recover!(packet, 0, packet.length, FRAME, newOutput(), 0)).toBe(0);
  }
  encoder.free();
});

test.each([
  ["one frame", [0x08, 0x40], true],
  ["one frame without redundancy", [0x08, 0x80], false],
  ["one frame of 60 ms: the fourth bit", [0x18, 0x10], true],
  ["one frame of 40 ms: the third bit", [0x10, 0x20], true],
  ["the side channel of stereo", [0x0c, 0x10], true],
  ["two frames of the same length", [0x09, 0x40, 0x00], true],
  ["two frames, the first with a one-byte length", [0x0a, 0x01, 0x40, 0x00], true],
  ["two frames, the first with a two-byte length", [0x0a, 0xfc, 0x00, 0x40], true],
  ["many frames of the same length", [0x0b, 0x02, 0x40, 0x00], true],
  ["many frames with padding", [0x0b, 0x42, 0x01, 0x40, 0x00, 0x00], true],
  ["many frames of several lengths", [0x0b, 0x83, 0x01, 0x01, 0x40, 0x00, 0x00], true],
  ["an empty first frame", [0x0a, 0x00, 0x40], false],
  ["CELT", [0x88, 0x40], false],
  ["no data after the first byte", [0x08], false],
])("redundancy is seen in a packet of %s", (_, bytes, expected) => {
  const packet = Uint8Array.of(1, 2, 3, ...bytes, 0x40);
  expect(carriesRedundancy(packet, 3, bytes.length)).toBe(expected);
});

test("a closed codec neither encodes nor decodes, and does not throw", async () => {
  const codec = await createOpus();
  const [packet] = encodeAll(codec, tone(440, 20, RATE, 8000));
  codec.close();
  codec.close();
  expect(codec.decode(packet!, 0, packet!.length, newOutput(), 0)).toBe(0);
  expect(codec.conceal!(FRAME, newOutput(), 0)).toBe(0);
  expect(codec.encode(new Int16Array(FRAME), new Uint8Array(MAX_PAYLOAD_BYTES), 0)).toBe(0);
});

test("opening and closing a thousand codecs leaks no memory", async () => {
  const before = process.memoryUsage().external + process.memoryUsage().arrayBuffers;
  for (let round = 0; round < 100; round++) {
    const codecs = await Promise.all(Array.from({ length: 10 }, () => createOpus()));
    for (const codec of codecs) encodeAll(codec, tone(440, 20, RATE, 8000));
    for (const codec of codecs) codec.close();
  }
  const after = process.memoryUsage().external + process.memoryUsage().arrayBuffers;
  expect(after - before).toBeLessThan(8 * 2 ** 20); // a thousand leaked codecs would take fifty
});

const randomBytes = fc.tuple(fc.uint8Array({ maxLength: 200 }), fc.nat(210), fc.nat(210), fc.nat(120));

fuzz(
  "decoding any bytes never throws, and the next packet is heard",
  fc.property(randomBytes, ([bytes, at, length, ms]) => {
    const output = newOutput();
    const samples = opus.decode(bytes, at, length, output, 0);
    if (samples < 0 || samples > output.length) throw new Error(`${samples} samples`);
    opus.recover!(bytes, at, length, (RATE * ms) / 1000, output, 0);
    opus.conceal!((RATE * ms) / 1000, output, 0);
    const [packet] = encodeAll(opus, tone(440, 20, RATE, 8000));
    if (opus.decode(packet!, 0, packet!.length, output, 0) !== FRAME) throw new Error("a genuine packet was not heard");
  }),
);
