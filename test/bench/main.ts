import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { BENCHMARKS } from "./benchmarks.ts";
import { measuredMachine, sections, writeTables } from "./document.ts";
import type { Benchmark, Row } from "./harness/benchmark.ts";

const USAGE = `npm run bench                        all benchmarks, one table each
npm run bench -- NAME [--OPTION N]   one benchmark
  --quick       a short run, to see that it works
  --json FILE   also writes the rows to a file, by benchmark
  --write       also writes the tables into docs/benchmarks.md
  --help        this text, or the method of the benchmark NAME
`;

process.exit(await main(process.argv.slice(2)));

/** Returns the exit code: 0 all targets were reached, 1 a target was missed, 2 an unknown benchmark or option. */
async function main(args: readonly string[]): Promise<number> {
  const name = args[0]?.startsWith("-") ? undefined : args[0];
  if (name !== undefined && !Object.hasOwn(BENCHMARKS, name)) {
    console.error(`unknown benchmark "${name}"; choose one of ${Object.keys(BENCHMARKS).join(", ")}`);
    return 2;
  }
  const selectedBenchmarks = name === undefined ? BENCHMARKS : { [name]: BENCHMARKS[name]! };
  const commandLine = readLine(
    name === undefined ? args : args.slice(1),
    name === undefined ? {} : selectedBenchmarks[name]!.options,
  );
  if (commandLine === undefined) return 2;
  if (commandLine.help) printHelp(name);
  return commandLine.help ? 0 : runAll(selectedBenchmarks, commandLine);
}

async function runAll(
  selectedBenchmarks: Readonly<Record<string, Benchmark>>,
  commandLine: CommandLine,
): Promise<number> {
  for (const [property, fact] of Object.entries(measuredMachine())) console.log(`${property}: ${fact}`);
  const titles = sections();
  const rowsByBenchmark = new Map<string, readonly Row[]>();
  for (const [name, { options, run }] of Object.entries(selectedBenchmarks)) {
    console.log(`\n${name}: ${titles.get(name)?.title}`);
    const defaults = Object.entries(options).map(([option, { value, quick = value }]) => [
      option,
      commandLine.quick ? quick : value,
    ]);
    const rows = await run({ ...Object.fromEntries(defaults), ...commandLine.numbers });
    printRows(rows);
    rowsByBenchmark.set(name, rows);
  }
  if (commandLine.json !== undefined)
    await writeFile(commandLine.json, JSON.stringify(Object.fromEntries(rowsByBenchmark), undefined, 2));
  if (commandLine.write) writeTables(rowsByBenchmark);
  const missedRows = [...rowsByBenchmark.values()]
    .flat()
    .filter(({ target, reached }) => target !== undefined && !reached);
  console.log(missedRows.length === 0 ? "\nall targets reached" : `\n${missedRows.length} targets missed`);
  return missedRows.length === 0 ? 0 : 1;
}

function printRows(rows: readonly Row[]): void {
  const widthOf = (column: "figure" | "measured") => Math.max(...rows.map((row) => row[column].length));
  const [figureWidth, measuredWidth] = [widthOf("figure"), widthOf("measured")];
  for (const row of rows) {
    const line = `  ${row.figure.padEnd(figureWidth)}  ${row.measured.padEnd(measuredWidth)}`;
    const verdict = row.reached ? "reached" : "MISSED";
    console.log(row.target === undefined ? line.trimEnd() : `${line}  ${verdict} (target ${row.target})`);
  }
}

/** Prints the usage of the benchmarks, or the method and options of one. */
function printHelp(name: string | undefined): void {
  const allSections = sections();
  if (name === undefined) {
    console.log(USAGE);
    const width = Math.max(...Object.keys(BENCHMARKS).map((benchmarkName) => benchmarkName.length));
    for (const benchmarkName of Object.keys(BENCHMARKS))
      console.log(`  ${benchmarkName.padEnd(width)}   ${allSections.get(benchmarkName)?.title}`);
    return;
  }
  const { title, text } = allSections.get(name)!;
  console.log(`${name}: ${title}\n\n${text}\n`);
  for (const [option, { meaning, value, quick = value }] of Object.entries(BENCHMARKS[name]!.options))
    console.log(`  --${option} N   ${meaning}; ${value}, with --quick ${quick}`);
}

interface CommandLine {
  readonly quick: boolean;
  readonly write: boolean;
  readonly help: boolean;
  readonly json: string | undefined;
  readonly numbers: Readonly<Record<string, number>>;
}

function readLine(args: readonly string[], options: Benchmark["options"]): CommandLine | undefined {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        quick: { type: "boolean", default: false },
        write: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
        json: { type: "string" },
        ...Object.fromEntries(Object.keys(options).map((name) => [name, { type: "string" as const }])),
      },
    });
    const { quick = false, write = false, help = false, json, ...texts } = values;
    const numbers = Object.entries(texts).map(([name, text]) => {
      const number = Number(text);
      if (!(number > 0)) throw new Error(`--${name} needs a number, not "${text}"`);
      return [name, number];
    });
    return { quick, write, help, json, numbers: Object.fromEntries(numbers) };
  } catch (error) {
    console.error((error as Error).message);
    return undefined;
  }
}
