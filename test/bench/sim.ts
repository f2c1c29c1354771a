import type { Benchmark } from "./benchmark.ts";
import { measureUnder } from "./under-runtime.ts";

/** Many simulated calls at once in one process, on the whole stack. */
export const SIMULATED_CALLS: Benchmark = {
  title: "1,000 simulated calls at once, 20 ms frames both ways",
  method: `All calls in one process on the whole stack: use cases, SQLite, dispatcher, sessions, playout, clock.

- the window begins one second after the last call has become \`IN_PROGRESS\`
- lateness: how much later than its place on the absolute 20 ms schedule a frame was exchanged, both directions
- intact: calls whose recording at the far end begins with exactly the samples of the rendered message (SHA-256), so
  one gap, repeat or underrun anywhere in it counts as a miss`,
  options: {
    calls: { meaning: "calls at once", value: 1000, quick: 200 },
    seconds: { meaning: "length of the window", value: 60, quick: 5 },
  },
  run: (options) => measureUnder(["node26", "bun"], new URL("./simulated-calls.ts", import.meta.url).href, options),
};
