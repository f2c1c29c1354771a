/**
 * G.711 (ITU-T, 1988): eight-bit logarithmic samples, mu-law (PCMU) and A-law (PCMA).
 *
 * Decoding is exact. Encoding cuts at the decision values of the recommendation, so the decoded value is the nearest
 * level or, just above the border of a segment, the next nearest.
 */

/** The mu-law code of silence. */
export const MULAW_SILENCE = 0xff;
/** The A-law code of silence. */
export const ALAW_SILENCE = 0xd5;

// 132 is the bias of mu-law at 16 bits: it makes every segment start at a power of two.
const MULAW_BIAS = 132;
const MULAW_CLIP = 32767 - MULAW_BIAS;

/** The 16-bit level of each mu-law code. */
export const MULAW_LEVELS: Int16Array = Int16Array.from({ length: 256 }, (_, index) => {
  const code = ~index & 0xff;
  const magnitude = ((((code & 15) << 3) + MULAW_BIAS) << ((code >> 4) & 7)) - MULAW_BIAS;
  return code & 0x80 ? -magnitude : magnitude;
});

/** The 16-bit level of each A-law code. */
export const ALAW_LEVELS: Int16Array = Int16Array.from({ length: 256 }, (_, index) => {
  const code = index ^ 0x55;
  const segment = (code >> 4) & 7;
  const step = ((code & 15) << 4) + 8;
  const magnitude = segment === 0 ? step : (step + 256) << (segment - 1);
  return code & 0x80 ? magnitude : -magnitude;
});

/** The mu-law code of one 16-bit sample. */
export function mulawCode(sample: number): number {
  const magnitude = Math.min(Math.abs(sample), MULAW_CLIP) + MULAW_BIAS;
  const segment = 24 - Math.clz32(magnitude);
  const sign = sample < 0 ? 0x80 : 0;
  return ~(sign | (segment << 4) | ((magnitude >> (segment + 3)) & 15)) & 0xff;
}

/** The A-law code of one 16-bit sample. */
export function alawCode(sample: number): number {
  // Negative samples are folded with one's complement, as the recommendation's tables do: there is no code for zero.
  const magnitude = sample < 0 ? ~sample : sample;
  const segment = Math.max(0, 24 - Math.clz32(magnitude));
  const code = (segment << 4) | ((magnitude >> Math.max(4, segment + 3)) & 15);
  return code ^ (sample < 0 ? 0x55 : 0xd5);
}

/** Decodes mu-law into `output` (at least as long as `codes`), or into a new array. */
export function decodeMulaw(codes: Uint8Array, output: Int16Array = new Int16Array(codes.length)): Int16Array {
  for (let i = 0; i < codes.length; i++) output[i] = MULAW_LEVELS[codes[i] ?? 0] ?? 0;
  return output;
}

/** Decodes A-law into `output` (at least as long as `codes`), or into a new array. */
export function decodeAlaw(codes: Uint8Array, output: Int16Array = new Int16Array(codes.length)): Int16Array {
  for (let i = 0; i < codes.length; i++) output[i] = ALAW_LEVELS[codes[i] ?? 0] ?? 0;
  return output;
}

/** Encodes samples as mu-law into `output` (at least as long as `samples`), or into a new array. */
export function encodeMulaw(samples: Int16Array, output: Uint8Array = new Uint8Array(samples.length)): Uint8Array {
  for (let i = 0; i < samples.length; i++) output[i] = mulawCode(samples[i] ?? 0);
  return output;
}

/** Encodes samples as A-law into `output` (at least as long as `samples`), or into a new array. */
export function encodeAlaw(samples: Int16Array, output: Uint8Array = new Uint8Array(samples.length)): Uint8Array {
  for (let i = 0; i < samples.length; i++) output[i] = alawCode(samples[i] ?? 0);
  return output;
}
