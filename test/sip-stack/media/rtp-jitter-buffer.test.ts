import { describe, expect, test } from "vitest";
import { createG711 } from "../../../adapters/sip-stack/media/codecs/g711.ts";
import { createOpus } from "../../../adapters/sip-stack/media/codecs/opus.ts";
import { RtpJitterBuffer } from "../../../adapters/sip-stack/media/jitter/rtp-jitter-buffer.ts";
import { decodeMulaw, encodeMulaw } from "../../../src/audio/samples/g711-companding.ts";
import { rms } from "../../../src/audio/samples/pcm.ts";
import { tone, toneShare } from "../../../src/audio/tones/tone.ts";
import { whiteNoise } from "../../audio/noise.ts";
import { type Delivery, find, largestStep, passThrough } from "./simulated-network.ts";

const RATE = 8000;
const throughMuLaw = (clip: Int16Array): Int16Array => decodeMulaw(encodeMulaw(clip));
const noise = whiteNoise(RATE * 4, 8000, 3);

const LOSSLESS_NETWORKS: readonly (readonly [name: string, delivers: Delivery])[] = [
  ["always takes the same time", () => [30]],
  ["takes up to 25 ms more or less", (_, chance) => [20 + 25 * chance()]],
  ["swaps neighbours", (index) => [index % 4 === 2 ? 45 : 20]],
  [
    "duplicates every third packet, sometimes much later",
    (index) => (index % 3 === 0 ? [20, index % 2 === 0 ? 21 : 90] : [20]),
  ],
];

describe("without losses", () => {
  test.each(LOSSLESS_NETWORKS)("on a network that %s plays every sample once and in order", (_, delivers) => {
    for (const phaseMs of [0, 7, 13, 19]) {
      const { heard, buffer } = passThrough(noise, { delivers, packets: 200, phaseMs });
      expect(find(heard, throughMuLaw(noise)), `phase ${phaseMs}`).toBeGreaterThanOrEqual(0);
      expect(buffer.late).toBe(0);
    }
  });

  test("duplicates are counted", () => {
    expect(passThrough(noise, { delivers: LOSSLESS_NETWORKS[3]![1], packets: 200 }).buffer.duplicated).toBe(67);
  });

  test.each([
    [65_500, 1_000],
    [100, 2 ** 32 - 5_000],
    [65_535, 2 ** 32 - 1],
  ])("numbers that begin at %i and timestamps at %i wrap without a trace", (firstSequence, firstTimestamp) => {
    const { heard } = passThrough(noise, {
      delivers: LOSSLESS_NETWORKS[1]![1],
      packets: 200,
      firstSequence,
      firstTimestamp,
    });
    expect(find(heard, throughMuLaw(noise))).toBeGreaterThanOrEqual(0);
  });

  test("the delay is small on a steady network", () => {
    const { heard } = passThrough(noise, { delivers: () => [30], packets: 200 });
    const delayMs = (find(heard, throughMuLaw(noise)) * 1000) / RATE + 7 - 30;
    expect(delayMs).toBeGreaterThan(20);
    expect(delayMs).toBeLessThan(60);
  });
});

describe("if packets are lost", () => {
  const step = largestStep(throughMuLaw(tone(440, 1000, RATE, 10_000)));

  /** Mismatched tones: no stretch of them looks like another. */
  function chord(ms: number): Int16Array {
    const tones = [211.3, 557.9, 1_423.1].map((hz) => tone(hz, ms, RATE, 4_000));
    return tones[0]!.map((_, i) => tones.reduce((sum, samples) => sum + samples[i]!, 0));
  }

  test.each([1, 2, 3, 4, 5])("%i in a row make no click", (burst) => {
    const tones = [31.7, 203.7, 441.3, 996.1, 1_653.9].map((hz) => tone(hz, 8_000, RATE, 10_000));
    for (const [index, clip] of [...tones, chord(8_000)].entries()) {
      const ownStep = largestStep(throughMuLaw(clip));
      const { heard } = passThrough(clip, { delivers: (i) => (i % 23 >= 23 - burst ? undefined : [20]), packets: 400 });
      expect(largestStep(heard), `clip ${index}`).toBeLessThan(1.25 * ownStep + 500); // the maximum that a fade within 5 ms from peak to peak adds
    }
  });

  test("a lost packet of a tone is concealed with the tone", () => {
    const sine = tone(440, 4_000, RATE, 10_000);
    const { heard, buffer } = passThrough(sine, { delivers: (i) => (i % 10 === 9 ? undefined : [20]), packets: 200 });
    expect(toneShare(heard.subarray(800, 31_000), 440, RATE)).toBeGreaterThan(0.98);
    expect(buffer.late).toBe(0);
  });

  test("the audio after the gap keeps its position", () => {
    const { heard } = passThrough(noise, { delivers: (i) => (i === 50 || i === 51 ? undefined : [20]), packets: 200 });
    const beforeAt = find(heard, throughMuLaw(noise).subarray(0, 50 * 160));
    const afterAt = find(heard, throughMuLaw(noise).subarray(52 * 160 + 80));
    expect(beforeAt).toBeGreaterThanOrEqual(0);
    expect(afterAt - beforeAt).toBe(52 * 160 + 80);
  });

  test("the audio is silent after 100 ms, and resumes without a click", () => {
    const sine = tone(440, 4_000, RATE, 10_000);
    const { heard } = passThrough(sine, { delivers: (i) => (i >= 50 && i < 100 ? undefined : [20]), packets: 200 });
    const silence = heard.subarray((1_000 + 200) * 8, (2_000 - 50) * 8);
    expect(rms(silence)).toBe(0);
    expect(rms(heard.subarray(2_200 * 8, 3_900 * 8))).toBeGreaterThan(6_000);
    expect(largestStep(heard)).toBeLessThan(1.35 * step + 400);
  });

  test("a packet past its time counts as late", () => {
    expect(passThrough(noise, { delivers: (i) => [i === 100 ? 300 : 20], packets: 200 }).buffer.late).toBe(1);
  });
});

describe("Opus", () => {
  const clip = tone(440, 4_000, 16_000, 10_000);

  test("conceals losses from redundancy, and bursts without a click", async () => {
    const codec = await createOpus();
    const ownStep = largestStep(passThrough(clip, { delivers: () => [20], packets: 200, codec }).heard);
    codec.close();
    for (const burst of [1, 3, 5]) {
      const codec = await createOpus();
      const recover = codec.recover!.bind(codec);
      const recovered: number[] = []; // 0 if the encoder left it out
      codec.recover = (...args) => {
        const samples = recover(...args);
        recovered.push(samples);
        return samples;
      };
      const delivers: Delivery = (i) => (i % 23 >= 23 - burst ? undefined : [20]);
      const { heard } = passThrough(clip, { delivers, packets: 200, codec });
      codec.close();
      expect(largestStep(heard), `${burst} lost`).toBeLessThan(1.5 * ownStep + 500);
      expect(recovered.length, `${burst} lost`).toBe(8);
      expect(recovered).toContain(320);
      if (burst === 1) expect(toneShare(heard.subarray(8_000, 56_000), 440, 16_000)).toBeGreaterThan(0.95);
    }
  });
});

describe("the delay", () => {
  test("grows with the network's jitter, and stays bounded", () => {
    const { buffer } = passThrough(noise, { delivers: (_, chance) => [20 + 120 * chance()], packets: 2_000 });
    expect(buffer.delay.targetMs).toBeGreaterThan(100);
    expect(buffer.delay.targetMs).toBeLessThan(140);
    const unstable = passThrough(noise, { delivers: (_, chance) => [20 + 900 * chance()], packets: 2_000 });
    expect(unstable.buffer.delay.targetMs).toBeLessThanOrEqual(200);
  });

  test("of a network stall is removed without a click", () => {
    const sine = tone(440, 12_000, RATE, 10_000);
    // For 300 ms no packet arrives, then all at once.
    const delivers: Delivery = (i) => [i >= 100 && i < 115 ? 20 + (115 - i) * 20 : 20];
    const { heard, buffer } = passThrough(sine, { delivers, packets: 650 });
    expect(buffer.late).toBe(0);
    expect(largestStep(heard)).toBeLessThan(1.35 * largestStep(throughMuLaw(sine)) + 400);
    // Silence follows the clip; with the added delay removed, it starts on time.
    const last = heard.findLastIndex((sample) => Math.abs(sample) > 1_000);
    expect(last / 8).toBeLessThan(12_000 + 130);
  });

  test.each([200, -200])("stays constant for minutes with a clock off by %i ppm", (ppm) => {
    const minutes = 10;
    const sine = tone(440, minutes * 60_000, RATE, 10_000);
    const { heard, buffer } = passThrough(sine, {
      delivers: (_, chance) => [20 + 10 * chance()],
      packets: minutes * 3_000 + 50,
      ppm,
    });
    expect(buffer.late).toBe(0);
    expect(largestStep(heard)).toBeLessThan(1.35 * largestStep(throughMuLaw(sine)) + 400);
    const first = heard.findIndex((sample) => Math.abs(sample) > 1_000);
    const last = heard.findLastIndex((sample) => Math.abs(sample) > 1_000);
    const sentMs = (minutes * 60_000) / (1 + ppm / 1e6);
    expect(Math.abs((last - first) / 8 - sentMs)).toBeLessThan(70);
  });
});

describe("the stream", () => {
  const codec = createG711("PCMU");
  const packet = encodeMulaw(tone(440, 20, RATE, 10_000));
  const frame = new Int16Array(160);
  const marks = new Uint8Array(160);

  test("may pause: the pause is silent, and the rest is on time", () => {
    const buffer = new RtpJitterBuffer(codec);
    const levels: number[] = [];
    for (let tick = 0; tick < 100; tick++) {
      const isSpeaking = tick < 30 || tick >= 60;
      const index = tick < 30 ? tick : tick - 30; // sequence numbers continue, timestamps show the pause
      if (isSpeaking) buffer.take(1_000 + index, 5_000 + tick * 160, packet, 0, 160, tick * 20, true);
      buffer.read(frame, tick * 20 + 5, marks);
      levels.push(rms(frame));
    }
    expect(levels.slice(40, 60).every((level) => level === 0)).toBe(true);
    expect(levels.slice(65).every((level) => level > 6_000)).toBe(true);
  });

  test("may jump to another time, or to another source, and continues at once", () => {
    for (const restart of [false, true]) {
      const buffer = new RtpJitterBuffer(codec);
      const levels: number[] = [];
      for (let tick = 0; tick < 100; tick++) {
        if (restart && tick === 50) buffer.restart();
        const timestamp = (tick < 50 ? 5_000 : 3_000_000_000) + tick * 160;
        buffer.take((restart && tick >= 50 ? 90_000 : 1_000) + tick, timestamp, packet, 0, 160, tick * 20, true);
        buffer.read(frame, tick * 20 + 5, marks);
        levels.push(rms(frame));
      }
      expect(levels.slice(10, 50).every((level) => level > 6_000)).toBe(true);
      expect(
        levels.slice(55).every((level) => level > 6_000),
        `restart: ${restart}`,
      ).toBe(true);
      expect(levels.filter((level) => level < 6_000).length).toBeLessThan(8);
    }
  });

  test("with only invalid packets returns silence", () => {
    const buffer = new RtpJitterBuffer({ ...codec, decode: () => 0 });
    for (let tick = 0; tick < 100; tick++) {
      buffer.take(1_000 + tick, tick * 160, packet, 0, 160, tick * 20, true);
      buffer.read(frame, tick * 20 + 5, marks);
      expect(rms(frame)).toBe(0);
    }
  });
});
