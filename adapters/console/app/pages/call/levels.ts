/** Loudness of each side, from 0 (-60 dB or less) to 1. */
export interface Levels {
  readonly callee: number;
  readonly played: number;
}

export const SILENT_LEVELS: Levels = { callee: 0, played: 0 };

/** Level below which audio counts as silence, dB of full scale. */
const FLOOR_DB = -60;
/** Share of the previous level that remains if the next piece is quieter. */
const DECAY = 0.8;

/** The levels after a piece of interleaved samples; levels rise immediately and fall slowly. */
export function levelsOf(samples: Int16Array, previous: Levels): Levels {
  const [callee, played] = [levelOf(samples, 0), levelOf(samples, 1)];
  return { callee: Math.max(callee, DECAY * previous.callee), played: Math.max(played, DECAY * previous.played) };
}

function levelOf(samples: Int16Array, channel: 0 | 1): number {
  let energy = 0;
  for (let i = channel; i < samples.length; i += 2) energy += (samples[i]! / 32_768) ** 2;
  const mean = energy / Math.max(1, samples.length / 2);
  return mean === 0 ? 0 : Math.max(0, Math.min(1, 1 - (10 * Math.log10(mean)) / FLOOR_DB));
}
