import type { Benchmark } from "./benchmark.ts";
import { SIMULATED_CALLS } from "./sim.ts";

/** Every benchmark by its name, in the order in which all of them run and are written down. */
export const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  sim: SIMULATED_CALLS,
};
