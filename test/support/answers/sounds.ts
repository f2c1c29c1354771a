import { msToSamples, toSample } from "../../../src/audio/samples/pcm.ts";

/** Sounds of lines and rooms. All have a mean of zero; their level is set by {@link withRms}. */
export type Sound = Float64Array;

/** Sum of sounds, as long as the longest one. */
export function mix(...sounds: readonly Sound[]): Sound {
  const sum = new Float64Array(Math.max(...sounds.map(({ length }) => length)));
  for (const sound of sounds) for (let i = 0; i < sound.length; i++) sum[i] = sum[i]! + sound[i]!;
  return sum;
}

/** Concatenates sounds. */
export function join(...sounds: readonly Sound[]): Sound {
  const all = new Float64Array(sounds.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const sound of sounds) {
    all.set(sound, at);
    at += sound.length;
  }
  return all;
}

export function silence(ms: number, rate: number): Sound {
  return new Float64Array(msToSamples(ms, rate));
}

/** The same sound scaled to an RMS, measured where it is not silent. */
export function withRms(sound: Sound, rms: number): Sound {
  let energy = 0;
  let count = 0;
  for (const value of sound) {
    if (value === 0) continue;
    energy += value * value;
    count++;
  }
  if (count === 0) return sound;
  const scale = rms / Math.sqrt(energy / count);
  return sound.map((value) => value * scale);
}

/** Sines together, `ms` long, with 5 ms of rise and fall. */
export function sines(hertz: readonly number[], ms: number, rate: number): Sound {
  const samples = silence(ms, rate);
  const edge = rate / 200;
  for (let i = 0; i < samples.length; i++) {
    let value = 0;
    for (const hz of hertz) value += Math.sin((2 * Math.PI * hz * i) / rate);
    samples[i] = value * Math.min(1, i / edge, (samples.length - i) / edge);
  }
  return samples;
}

/** Noise: `white`, `pink` (3 dB less an octave), `car` (rumble below 300 Hz). */
export function noise(kind: "white" | "pink" | "car", ms: number, rate: number, next: () => number): Sound {
  const samples = silence(ms, rate);
  const [a, b, c] = [
    [0.99765, 0.099046],
    [0.963, 0.2965164],
    [0.57, 1.0526913],
  ] as const;
  let [x, y, z, low] = [0, 0, 0, 0];
  for (let i = 0; i < samples.length; i++) {
    const white = next() + next() + next() - 1.5;
    if (kind === "white") samples[i] = white;
    else if (kind === "pink") {
      x = a[0] * x + white * a[1];
      y = b[0] * y + white * b[1];
      z = c[0] * z + white * c[1];
      samples[i] = x + y + z + white * 0.1848;
    } else {
      low += 0.08 * (white - low);
      samples[i] = low + 0.02 * white;
    }
  }
  return samples;
}

const SCALES = [
  [0, 2, 4, 5, 7, 9, 11],
  [0, 2, 3, 5, 7, 8, 10],
  [0, 3, 5, 7, 10],
] as const;

/** Music: a melody over chords, with drums or without, from a random score. */
export function music(ms: number, rate: number, next: () => number): Sound {
  const output = silence(ms, rate);
  const scale = SCALES[Math.floor(next() * SCALES.length)]!;
  const root = 48 + Math.floor(next() * 12);
  const beatMs = 60_000 / (70 + 70 * next());
  const hasDrums = next() < 0.5;
  const pitch = (step: number): number => {
    const octave = Math.floor(step / scale.length);
    return 440 * 2 ** ((root + 12 * octave + scale[step - octave * scale.length]! - 69) / 12);
  };
  const play = (hz: number, atMs: number, lengthMs: number, gain: number, decayMs: number): void => {
    const from = msToSamples(atMs, rate);
    const length = Math.min(msToSamples(lengthMs, rate), output.length - from);
    for (let i = 0; i < length; i++) {
      const envelope = Math.min(1, i / (0.01 * rate)) * Math.exp((-1_000 * i) / rate / decayMs);
      const turn = (2 * Math.PI * hz * i) / rate;
      output[from + i] =
        output[from + i]! + gain * envelope * (Math.sin(turn) + 0.4 * Math.sin(2 * turn) + 0.2 * Math.sin(3 * turn));
    }
  };
  const bars = Math.ceil(ms / (4 * beatMs));
  for (let bar = 0; bar < bars; bar++) {
    const chord = Math.floor(next() * scale.length);
    for (const third of [0, 2, 4]) play(pitch(chord + third), bar * 4 * beatMs, 4 * beatMs, 0.35, 4_000);
    for (let beat = 0; beat < 4; beat++) {
      const at = (4 * bar + beat) * beatMs;
      for (const offset of next() < 0.5 ? [0, 0.5] : [0])
        play(pitch(scale.length + Math.floor(next() * 9)), at + offset * beatMs, beatMs, 0.8, 900);
      if (hasDrums) strike(output, msToSamples(at, rate), rate, next);
    }
  }
  return output;
}

function strike(output: Sound, from: number, rate: number, next: () => number): void {
  for (let i = 0; i < 0.08 * rate && from + i < output.length; i++)
    output[from + i] = output[from + i]! + (3 * next() - 1.5) * Math.exp(-i / (0.015 * rate));
}

/** Converts a sound to 16-bit samples. */
export function samplesOf(sound: Sound): Int16Array {
  return Int16Array.from(sound, toSample);
}
