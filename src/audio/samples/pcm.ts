/** Rounds to the nearest 16-bit sample and clips; NaN becomes 0. */
export function toSample(value: number): number {
  if (value >= 32767) return 32767;
  if (value <= -32768) return -32768;
  return Math.round(value) || 0;
}

/** Number of samples in a period, rounded. */
export function msToSamples(ms: number, sampleRate: number): number {
  return Math.round((ms * sampleRate) / 1000);
}

/** Duration of a number of samples, ms, not rounded. */
export function samplesToMs(samples: number, sampleRate: number): number {
  return (samples * 1000) / sampleRate;
}

/** True on a little-endian machine: samples can then be copied as bytes, which is many times faster. */
const LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** Reads 16-bit little-endian samples into a new array; an odd last byte is ignored. */
export function pcmFromBytes(bytes: Uint8Array): Int16Array<ArrayBuffer> {
  const samples = new Int16Array(bytes.length >> 1);
  if (LITTLE_ENDIAN) new Uint8Array(samples.buffer).set(bytes.length % 2 === 0 ? bytes : bytes.subarray(0, -1));
  else for (let i = 0; i < samples.length; i++) samples[i] = bytes[2 * i]! | (bytes[2 * i + 1]! << 8);
  return samples;
}

/** Like {@link pcmFromBytes}, without a copy if the bytes are aligned; samples and bytes then share their memory. */
export function pcmInBytes(bytes: Uint8Array): Int16Array {
  const { buffer, byteOffset, length } = bytes;
  if (!LITTLE_ENDIAN || byteOffset % 2 !== 0) return pcmFromBytes(bytes);
  return new Int16Array(buffer, byteOffset, length >> 1);
}

/** Writes samples as 16-bit little-endian bytes into a new array. */
export function pcmToBytes(samples: Int16Array): Uint8Array<ArrayBuffer> {
  if (LITTLE_ENDIAN) return new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength).slice();
  const bytes = new Uint8Array(2 * samples.length);
  for (let i = 0; i < samples.length; i++) {
    const sample = samples[i]!;
    bytes[2 * i] = sample;
    bytes[2 * i + 1] = sample >> 8;
  }
  return bytes;
}

/**
 * Mixes float channels (full scale -1 to 1, equal lengths) into one by averaging, which keeps the level: two equal
 * channels are output as one of them.
 */
export function pcmFromFloat(channels: readonly Float32Array[]): Int16Array<ArrayBuffer> {
  const samples = new Int16Array(channels[0]?.length ?? 0);
  const scale = 32768 / Math.max(1, channels.length);
  for (let i = 0; i < samples.length; i++) {
    let sum = 0;
    for (const channel of channels) sum += channel[i] ?? 0;
    samples[i] = toSample(sum * scale);
  }
  return samples;
}

/** Mixes interleaved channels into one by averaging; an incomplete last frame is ignored. */
export function downMix(interleaved: Int16Array, channels: number): Int16Array<ArrayBuffer> {
  const samples = new Int16Array(Math.floor(interleaved.length / channels));
  for (let i = 0; i < samples.length; i++) {
    let sum = 0;
    for (let c = 0; c < channels; c++) sum += interleaved[i * channels + c] ?? 0;
    samples[i] = toSample(sum / channels);
  }
  return samples;
}

/** Joins pieces into one array. */
export function concatPcm(pieces: readonly Int16Array[]): Int16Array<ArrayBuffer> {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  const samples = new Int16Array(length);
  let at = 0;
  for (const piece of pieces) {
    samples.set(piece, at);
    at += piece.length;
  }
  return samples;
}

/** The largest absolute sample, 0 to 32768. */
export function peak(samples: Int16Array): number {
  let maxLevel = 0;
  for (const sample of samples) maxLevel = Math.max(maxLevel, Math.abs(sample));
  return maxLevel;
}

/** The root mean square of the samples, 0 to 32768; 0 for none. */
export function rms(samples: Int16Array): number {
  if (samples.length === 0) return 0;
  let energy = 0;
  for (const sample of samples) energy += sample * sample;
  return Math.sqrt(energy / samples.length);
}
