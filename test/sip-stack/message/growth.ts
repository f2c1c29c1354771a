/** Factor by which an input is enlarged. */
const FACTOR = 16;
/** Duration below which differences are mostly noise, ms. */
const FLOOR_MS = 0.1;

/** Limit for linear growth, with a factor of eight for caches, garbage collection and other noise. */
export const LINEAR = 8 * FACTOR;

/**
 * Growth of the duration of `run` with an input sixteen times as large: 16 if it is linear, 256 if it is quadratic.
 * The shortest of many runs counts; the large input is repeated until one run is linear.
 */
export function growth<Input>(input: (size: number) => Input, size: number, run: (input: Input) => unknown): number {
  const [small, large] = [input(size), input(FACTOR * size)];
  let fastest = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 6; round++)
    fastest = Math.min(
      fastest,
      duration(() => run(small)),
    );
  const baselineMs = Math.max(fastest, FLOOR_MS);
  let ratio = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 20 && ratio > LINEAR; round++)
    ratio = Math.min(ratio, duration(() => run(large)) / baselineMs);
  return ratio;
}

function duration(run: () => unknown): number {
  const startedAt = performance.now();
  run();
  return performance.now() - startedAt;
}
