import type { Benchmark, Row } from "./benchmark.ts";

/** Prints one benchmark's rows as a table. */
export function printRows(rows: readonly Row[]): void {
  const what = Math.max(...rows.map((row) => row.what.length));
  const measured = Math.max(...rows.map((row) => row.measured.length));
  for (const row of rows) {
    const line = `  ${row.what.padEnd(what)}  ${row.measured.padEnd(measured)}`;
    console.log(row.wanted === undefined ? line.trimEnd() : `${line}  ${verdict(row)} (wanted ${row.wanted})`);
  }
}

/** The verdict on a row that was to reach something. */
export function verdict({ reached }: Row): "reached" | "MISSED" {
  return reached ? "reached" : "MISSED";
}

/** Prints how the benchmarks are called. */
export function printUsage(benchmarks: Readonly<Record<string, Benchmark>>): void {
  console.log("npm run bench                        all of them, one table each");
  console.log("npm run bench -- NAME [--OPTION N]   one of them");
  console.log("  --quick   a short run, to see that it works");
  console.log("  --write   also keeps the tables in docs/benchmarks.md");
  console.log("  --help    this, or with a NAME how that one is measured\n");
  const width = Math.max(...Object.keys(benchmarks).map((name) => name.length));
  for (const [name, { title }] of Object.entries(benchmarks)) console.log(`  ${name.padEnd(width)}   ${title}`);
}

/** Prints what one benchmark measures and which options it has. */
export function printMethod(name: string, { title, method, options }: Benchmark): void {
  console.log(`${name}: ${title}\n\n${method}\n`);
  for (const [option, { meaning, value, quick = value }] of Object.entries(options))
    console.log(`  --${option} N   ${meaning}; ${value}, with --quick ${quick}`);
}
