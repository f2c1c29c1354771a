import { toSample } from "../../src/audio/samples/pcm.ts";
import { random } from "../support/random.ts";

/** White Gaussian noise with the given RMS. */
export function whiteNoise(length: number, rms: number, seed: number): Int16Array<ArrayBuffer> {
  const next = random(seed);
  const noise = new Int16Array(length);
  for (let i = 0; i < length; i++) {
    const gaussian = Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
    noise[i] = toSample(rms * gaussian);
  }
  return noise;
}

/** Adds two recordings sample by sample; the result is as long as the first. */
export function sum(a: Int16Array, b: Int16Array): Int16Array<ArrayBuffer> {
  const output = new Int16Array(a.length);
  for (let i = 0; i < a.length; i++) output[i] = toSample(a[i]! + (b[i] ?? 0));
  return output;
}

/**
 * A sound that varies like speech: syllables of 120 to 300 ms with a slightly hoarse voice of changing pitch through
 * three formants, some hisses, and pauses of 40 to 400 ms between them.
 */
export function babble(ms: number, sampleRate: number, level: number, seed: number): Int16Array<ArrayBuffer> {
  const next = random(seed);
  const samples = new Float64Array(Math.round((ms * sampleRate) / 1000));
  let at = 0;
  while (at < samples.length) {
    const length = Math.round(((120 + 180 * next()) * sampleRate) / 1000);
    const isVoiced = next() > 0.2;
    const pitch = 90 + 160 * next();
    const glide = (next() - 0.5) * 60;
    const formants = [300 + 600 * next(), 900 + 1000 * next(), 2200 + 800 * next()];
    let turn = 0;
    for (let i = 0; i < length && at + i < samples.length; i++) {
      const progress = i / length;
      const envelope = Math.sin(Math.PI * progress);
      if (!isVoiced) {
        samples[at + i] = 0.3 * envelope * (next() * 2 - 1);
        continue;
      }
      const hz = pitch + glide * progress;
      turn += (2 * Math.PI * hz) / sampleRate;
      // Each harmonic from the two below it: sin nx = 2 cos x · sin (n − 1)x − sin (n − 2)x.
      const factor = 2 * Math.cos(turn);
      let sine = Math.sin(turn);
      let previous = 0;
      let value = 0;
      for (let harmonic = hz; harmonic < 3600; harmonic += hz) {
        let gain = 0;
        for (let f = 0; f < formants.length; f++) gain += 1 / (1 + ((harmonic - formants[f]!) / 120) ** 2);
        value += gain * sine;
        const nextSine = factor * sine - previous;
        previous = sine;
        sine = nextSine;
      }
      samples[at + i] = (value + 0.2 * (next() * 2 - 1)) * envelope;
    }
    at += length + Math.round(((40 + 360 * next()) * sampleRate) / 1000);
  }
  let energy = 0;
  for (const sample of samples) energy += sample * sample;
  const scale = level / Math.sqrt(energy / samples.length);
  const output = new Int16Array(samples.length);
  for (let i = 0; i < output.length; i++) output[i] = toSample(samples[i]! * scale);
  return output;
}
