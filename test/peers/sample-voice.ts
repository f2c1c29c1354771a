/** Number of harmonics of the voice: up to 3 kHz, so that every rate can carry them. */
const HARMONICS = 16;
/** Phases of the channels, different so that no channel is a copy of another. */
const CHANNEL_STEP = 0.37;

/**
 * A voice that glides and has syllables, as a function of time: the same at every rate. One list per frame: a value from -1
 * to 1 for each channel; the channels differ a little.
 */
export function sampleFrames({
  channels,
  sampleRate,
  ms,
  seed = 0,
}: {
  channels: number;
  sampleRate: number;
  ms: number;
  seed?: number;
}): number[][] {
  return Array.from({ length: Math.round((sampleRate * ms) / 1000) }, (_, i) =>
    Array.from({ length: channels }, (_, channel) => valueAt(i / sampleRate, seed + CHANNEL_STEP * channel)),
  );
}

function valueAt(seconds: number, seed: number): number {
  const turns = (130 + 17 * seed) * seconds + 3 * Math.sin(2 * Math.PI * 1.7 * seconds + seed);
  let sum = 0;
  for (let n = 1; n <= HARMONICS; n++) {
    const formant = 1 + Math.cos(0.9 * n + 2 * Math.sin(9 * seconds + seed));
    sum += ((0.3 + formant) / n) * Math.sin(2 * Math.PI * n * turns + seed * n);
  }
  return 0.1 * sum * (0.65 + 0.35 * Math.sin(2 * Math.PI * 4.3 * seconds + 1 + seed));
}
