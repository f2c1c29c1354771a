import { median, quantile } from "../bench/harness/benchmark.ts";

/** A memory size at a time, min since the start. */
export interface Sample {
  readonly minute: number;
  readonly bytes: number;
}

/** Growth of a memory size. */
export interface Growth {
  /** Growth over the whole window, bytes. */
  readonly bytes: number;
  /** Maximum growth that may be random variation, bytes. */
  readonly allowedBytes: number;
  readonly isFlat: boolean;
}

/**
 * Growth of a figure over its window: the median of the slopes between all pairs of samples (H. Theil, 1950; P. K. Sen,
 * 1968), which a few outliers do not affect, times the window. Random variation is `minimum`, a `share` of the median, or the range in which
 * the middle half of the samples lies, whichever is greatest: steady growth amounts to twice that range.
 */
export function growthOf(samples: readonly Sample[], share: number, minimum: number): Growth {
  const slopes = samples.flatMap((from, i) =>
    samples.slice(i + 1).map((to) => (to.bytes - from.bytes) / (to.minute - from.minute)),
  );
  const all = samples.map(({ bytes }) => bytes);
  const allowed = Math.max(minimum, share * median(all), quantile(all, 0.75) - quantile(all, 0.25));
  const window = (samples.at(-1)?.minute ?? 0) - (samples[0]?.minute ?? 0);
  const bytes = slopes.length === 0 ? 0 : median(slopes) * window;
  return { bytes, allowedBytes: allowed, isFlat: bytes <= allowed };
}
