import { msToSamples, toSample } from "../samples/pcm.ts";

/** A sine of `hz`, `ms` long, with a peak of `amplitude` (0 to 32767). */
export function tone(hz: number, ms: number, sampleRate: number, amplitude: number): Int16Array<ArrayBuffer> {
  const samples = new Int16Array(msToSamples(ms, sampleRate));
  const step = (2 * Math.PI * hz) / sampleRate;
  // A whole number of Hz repeats at least once a second.
  let count = Math.min(samples.length, Number.isInteger(hz) ? sampleRate : Infinity);
  for (let i = 0; i < count; i++) samples[i] = toSample(amplitude * Math.sin(step * i));
  for (; count < samples.length; count *= 2) samples.copyWithin(count, 0, count);
  return samples;
}

/**
 * The share of the energy that is a tone of `hz`: 1 for that tone alone, near 0 if it is absent or the samples are
 * silent.
 *
 * One Goertzel filter (G. Goertzel, 1958) over all samples; `n` samples separate tones that are `sampleRate / n` Hz
 * away from each other.
 */
export function toneShare(samples: Int16Array, hz: number, sampleRate: number): number {
  const coefficient = 2 * Math.cos((2 * Math.PI * hz) / sampleRate);
  let previous = 0;
  let before = 0;
  let energy = 0;
  for (const sample of samples) {
    const next = sample + coefficient * previous - before;
    before = previous;
    previous = next;
    energy += sample * sample;
  }
  if (energy === 0) return 0;
  const power = previous * previous + before * before - coefficient * previous * before;
  return Math.min(1, (2 * power) / (samples.length * energy));
}
