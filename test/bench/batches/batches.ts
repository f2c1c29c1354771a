import { benchmark, progress } from "../harness/benchmark.ts";
import { insideEach } from "../harness/programs.ts";

const IMPORTING = new URL("importing.ts", import.meta.url).href;
const RUNNING = new URL("running.ts", import.meta.url).href;

/** Importing a large batch, reading it, and calling the targets of another. */
export const BATCHES = benchmark({
  options: {
    rows: { meaning: "rows of the CSV file", value: 100_000, quick: 5_000 },
    rounds: { meaning: "rounds of reads", value: 5, quick: 2 },
    targets: { meaning: "targets that are called", value: 10_000, quick: 300 },
    numbers: { meaning: "numbers that call them", value: 100, quick: 20 },
    orders: { meaning: "single calls before the batch, and after it", value: 100, quick: 20 },
  },
  async run({ rows, rounds, ...calling }) {
    const importRows = await insideEach(["node26"], IMPORTING, { rows, rounds });
    progress("calling the targets of a batch");
    return [...importRows, ...(await insideEach(["node26"], RUNNING, calling))];
  },
});
