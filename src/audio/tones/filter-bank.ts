/** The coefficients of a polyphase low-pass filter for one ratio of sample rates. */
export interface FilterBank {
  /** Number of input samples on each side that an output sample depends on. */
  readonly reach: number;
  /**
   * Number of coefficients per row, `2 * reach`, a multiple of four; the first applies to the input sample `reach - 1`
   * before the output's.
   */
  readonly taps: number;
  /**
   * Number of steps that one input sample is divided into; row `i` is for an output `i / steps` samples after an input.
   */
  readonly steps: number;
  /** `steps + 1` rows of `taps`. */
  readonly rows: Float64Array;
}

// 16 zero crossings, Kaiser beta 9 and a cut-off at 0.92 of the lower Nyquist frequency: measured at 77 dB or better
// against aliases, with 2 ms of delay at 8 kHz.
const ZERO_CROSSINGS = 16;
const KAISER_BETA = 9;
const ROLL_OFF = 0.92;

// All the customary rates need 640 steps or fewer and are exact. A file with an odd rate (11111 Hz) would need as many
// as its rate; then the nearest of 1024 steps is used, which keeps its pitch and length, and more than 60 dB of SNR.
const MAX_STEPS = 1024;
// Audio files choose their rate freely, so the cache has a limit: 2 million coefficients, 16 MB.
const CACHED_COEFFICIENTS = 2_000_000;

const cache = new Map<string, FilterBank>();

/** The filter bank for `up / down` (in lowest terms) as output rate over input rate, shared by all callers. */
export function filterBank(up: number, down: number): FilterBank {
  const key = `${up}/${down}`;
  const bank = cache.get(key) ?? design(up, down);
  // Inserting again moves it to the end: the Map's order is the order of last use.
  cache.delete(key);
  cache.set(key, bank);
  let coefficients = 0;
  for (const { rows } of cache.values()) coefficients += rows.length;
  for (const [oldestKey, { rows }] of cache) {
    if (coefficients <= CACHED_COEFFICIENTS || oldestKey === key) break;
    cache.delete(oldestKey);
    coefficients -= rows.length;
  }
  return bank;
}

function design(up: number, down: number): FilterBank {
  const scale = Math.min(1, up / down);
  const cutOff = scale * ROLL_OFF;
  const reach = 2 * Math.ceil(ZERO_CROSSINGS / scale / 2);
  const taps = 2 * reach;
  const steps = Math.min(up, MAX_STEPS);
  const rows = new Float64Array((steps + 1) * taps);
  const row = new Float64Array(taps);
  for (let step = 0; step <= steps; step++) {
    let sum = 0;
    for (let tap = 0; tap < taps; tap++) {
      const distance = tap - (reach - 1) - step / steps;
      const value = sinc(cutOff * distance) * kaiser(distance / reach);
      row[tap] = value;
      sum += value;
    }
    // Every row gets unit gain at 0 Hz; rows of different gain would modulate the signal.
    for (let tap = 0; tap < taps; tap++) rows[step * taps + tap] = (row[tap] ?? 0) / sum;
  }
  return { reach, taps, steps, rows };
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

/** The Kaiser window (J. F. Kaiser, 1974), not scaled, for a position from -1 to 1. */
function kaiser(position: number): number {
  return bessel0(KAISER_BETA * Math.sqrt(Math.max(0, 1 - position * position)));
}

/** The modified Bessel function of the first kind, order 0, by its power series. */
function bessel0(x: number): number {
  const quarter = (x * x) / 4;
  let term = 1;
  let sum = 1;
  for (let k = 1; term > 1e-12 * sum; k++) {
    term *= quarter / (k * k);
    sum += term;
  }
  return sum;
}
