/**
 * The tones of the world as numbers: frequencies in Hz, times in ms. Sources: ITU-T E.180 and its supplement 2, E.182,
 * T.30, V.8, V.25, Telcordia GR-674. Ranges include the errors of lines and generators.
 */

/** Range from the lowest to the highest accepted value. */
export type Range = readonly [number, number];

/** The single tone of networks: 400 to 450 Hz. */
export const NETWORK_HZ: Range = [392, 458];
/** France rings at 440 Hz, which is also a popular beep: it is accepted only at the length of that ring. */
export const FRENCH_HZ: Range = [435, 445];
export const FRENCH_RING_MS: Range = [1_350, 1_650];

/** Lengths of busy, reorder and congestion tones if tone and pause are equally long. */
const EQUAL_TIMES_MS = [165, 200, 250, 300, 350, 400, 500, 600, 700, 750];
/** Busy, reorder and congestion: tone, pause, tone, pause … */
export const BUSY_CADENCES: readonly (readonly number[])[] = [
  ...EQUAL_TIMES_MS.map((ms) => [ms, ms]),
  [300, 200], // Korea
  [200, 300],
  [300, 400], // Argentina
  [250, 750], // Sweden
  [400, 350, 225, 525], // United Kingdom
  [250, 250, 750, 250], // Brazil
  [200, 200, 200, 200, 200, 600], // Spain
  [200, 200, 200, 200, 200, 200, 600, 200], // Turkey
  [2_500, 500], // Australia, Malaysia: number unobtainable
  [750, 100, 750, 100, 750, 100, 750, 400], // New Zealand: information
  [75, 100, 75, 100, 75, 100, 75, 400], // New Zealand: number unobtainable
  [100, 100, 100, 100, 100, 100, 400, 400], // China: information
];
/**
 * Number of tones that make a cadence certain: more for a single tone, because some voicemail boxes beep with one, than
 * for a pair.
 */
export const CERTAIN_BURSTS = 4;
export const CERTAIN_PAIRS = 3;
/** Length from which two or more slow tones make a cadence certain, ms. */
export const CERTAIN_MS = 5_000;
/** Longest pause within a busy tone, ms. */
export const MAX_BUSY_PAUSE_MS = 900;

/** The pairs of tones, by their meaning. */
export const BUSY_PAIR = [480, 620] as const;
export const DIAL_PAIR = [350, 440] as const;

/** One ring of a single tone, and of a pair. */
export const RING_MS: Range = [700, 2_300];
export const PAIR_RING_MS: Range = [300, 2_300];
/** Two rings: tone, pause, tone. */
export const DOUBLE_RING_MS = [400, 200, 400] as const;

/** The pause between two rings, ms: a single tone after speech is ringing only if it recurs after such a pause. */
export const RING_PAUSE_MS: Range = [1_500, 5_300];

/** Length above which a tone is a dial tone or number-unobtainable tone, ms: longer than any ring. */
export const CONTINUOUS_MS = 4_000;

/** Special information tone: three successive tones. */
export const SPECIAL_INFORMATION_HZ: readonly Range[] = [
  [885, 1_012],
  [1_355, 1_466],
  [1_757, 1_870],
];
export const SPECIAL_INFORMATION_MS: Range = [200, 440];
export const MAX_SPECIAL_INFORMATION_PAUSE_MS = 80;

/** A called fax machine or modem: CED (T.30), ANS and ANSam (V.25, V.8). Longer than any beep. */
export const CED_HZ: Range = [2_055, 2_145];
export const CED_MS = 2_080;
/** A calling fax machine: CNG (T.30), every 3.5 s. */
export const CNG_HZ: Range = [1_055, 1_145];
export const CNG_MS: Range = [400, 600];
export const CNG_PAUSE_MS: Range = [2_500, 3_500];

/** The beep of a voicemail box. */
export const BEEP_HZ: Range = [400, 2_300];
export const BEEP_MS: Range = [150, 2_040];
