/** The middle one of several measurements. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value that a share of the measurements does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
