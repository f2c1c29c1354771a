import { describe, expect, test } from "vitest";
import { Similarity } from "../../../adapters/sip-stack/media/jitter/similarity.ts";
import { tone } from "../../../src/audio/tones/tone.ts";
import { whiteNoise } from "../../audio/noise.ts";

const MS = 1_000;

/** Glottal pulses, each ringing at two formants: the shape of a voice. */
function voice(pitchHz: number, sampleRate: number): Int16Array {
  const samples = new Int16Array(sampleRate);
  for (let i = 0; i < samples.length; i++) {
    const sincePulse = (i % (sampleRate / pitchHz)) / sampleRate;
    const signal = Math.sin(2 * Math.PI * 700 * sincePulse) + 0.6 * Math.sin(2 * Math.PI * 1_220 * sincePulse);
    samples[i] = 9_000 * Math.exp(-sincePulse * 250) * signal;
  }
  return samples;
}

/** Highest similarity of all lags from 2.5 to 15 ms, each compared separately. */
function bestSimilarity(samples: Int16Array, at: number, direction: 1 | -1, sampleRate: number): number {
  let best = 0;
  for (let lag = (2.5 * sampleRate) / MS; lag <= (15 * sampleRate) / MS; lag++) {
    let [windowEnergy, lagEnergy, product] = [0, 0, 0];
    for (let i = at; i < at + (10 * sampleRate) / MS; i++) {
      windowEnergy += samples[i]! ** 2;
      lagEnergy += samples[i + direction * lag]! ** 2;
      product += samples[i]! * samples[i + direction * lag]!;
    }
    if (lagEnergy > 0) best = Math.max(best, product / Math.sqrt(windowEnergy * lagEnergy));
  }
  return best;
}

describe.each([8_000, 16_000])("at %i Hz", (sampleRate) => {
  const noise = whiteNoise(sampleRate, 2_000, 5);
  const withNoise = (clip: Int16Array): Int16Array => clip.map((sample, i) => sample + noise[i]!);
  const clips: readonly (readonly [title: string, samples: Int16Array])[] = [
    ...[70, 95, 110, 147.3, 180, 233, 310, 390].map((hz) => [`a voice at ${hz} Hz`, voice(hz, sampleRate)] as const),
    ...[120, 210].map((hz) => [`a hoarse voice at ${hz} Hz`, withNoise(voice(hz, sampleRate))] as const),
    ...[68, 203.7, 440, 697, 941, 1_209, 1_633].map(
      (hz) => [`a tone of ${hz} Hz`, tone(hz, MS, sampleRate, 8_000)] as const,
    ),
  ];

  test.each(clips)("%s is found with nearly the similarity of the best lag", (_, samples) => {
    const similarity = new Similarity(sampleRate);
    for (const direction of [1, -1] as const)
      for (let at = sampleRate / 10; at < sampleRate / 2; at += 97) {
        similarity.search(samples, at, direction);
        expect(similarity.correlation).toBeGreaterThan(bestSimilarity(samples, at, direction, sampleRate) - 0.06);
      }
  });

  test("noise has a low similarity at every lag", () => {
    const similarity = new Similarity(sampleRate);
    for (let at = sampleRate / 10; at < sampleRate / 2; at += 97) {
      similarity.search(noise, at, 1);
      expect(similarity.correlation).toBeLessThan(0.6);
    }
  });

  test("silence is similar at any lag", () => {
    const similarity = new Similarity(sampleRate);
    similarity.search(new Int16Array(sampleRate), sampleRate / 2, 1);
    expect([similarity.correlation, similarity.lag]).toEqual([1, similarity.maxLag]);
  });
});
