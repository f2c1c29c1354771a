// npm run bench [-- NAME …]: prints one table per benchmark. Ratios and shares are what counts; the machine is named.
import { cpus } from "node:os";
import { benchSimulator } from "./sim.ts";

/** One line of a table: what was measured, what came out, what was to be reached. */
export interface Row {
  readonly what: string;
  readonly measured: string;
  readonly wanted?: string;
  readonly reached?: boolean;
}

const BENCHMARKS: Readonly<Record<string, { says: string; run: (args: string[]) => Promise<Row[]> }>> = {
  sim: { says: "1,000 simulated calls at once, 20 ms frames both ways", run: benchSimulator },
};

const [first, ...args] = process.argv.slice(2);
const names = first === undefined || first.startsWith("-") ? Object.keys(BENCHMARKS) : [first];
const unknown = names.find((name) => !(name in BENCHMARKS));
if (unknown !== undefined) {
  console.error(`there is no benchmark "${unknown}"; there are: ${Object.keys(BENCHMARKS).join(", ")}`);
  process.exit(2);
}

let missed = 0;
console.log(`${runtimeName()} · ${cpus().length} × ${cpus()[0]?.model ?? "unknown processor"}`);
for (const name of names) {
  const bench = BENCHMARKS[name];
  if (!bench) continue;
  console.log(`\n${name}: ${bench.says}`);
  const rows = await bench.run(first?.startsWith("-") ? [first, ...args] : args);
  const width = Math.max(...rows.map((row) => row.what.length));
  for (const { what, measured, wanted, reached } of rows) {
    if (reached === false) missed++;
    const verdict = wanted === undefined ? "" : `   wanted ${wanted}: ${reached ? "reached" : "MISSED"}`;
    console.log(`  ${what.padEnd(width)}  ${measured}${verdict}`);
  }
}
process.exit(missed === 0 ? 0 : 1);

function runtimeName(): string {
  const { bun, deno, node } = process.versions as Record<string, string | undefined>;
  return bun ? `Bun ${bun}` : deno ? `Deno ${deno}` : `Node ${node}`;
}
