import type { Benchmark } from "./benchmark.ts";
import { CREATE } from "./create.ts";
import { DISPATCH } from "./dispatch.ts";
import { MEMORY } from "./memory.ts";
import { READ } from "./read.ts";
import { SIMULATED_CALLS } from "./sim.ts";
import { SPOKEN_ONCE } from "./spoken-once.ts";

/** Every benchmark by its name, in the order in which all of them run and are written down. */
export const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  read: READ,
  create: CREATE,
  sim: SIMULATED_CALLS,
  memory: MEMORY,
  dispatch: DISPATCH,
  "spoken-once": SPOKEN_ONCE,
};
