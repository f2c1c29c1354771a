import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { BENCHMARKS } from "./benchmarks.ts";
import { machine, sections, writeTables } from "./document.ts";
import type { Benchmark, Row } from "./harness/benchmark.ts";

const USAGE = `npm run bench                        all of them, one table each
npm run bench -- NAME [--OPTION N]   one of them
  --quick       a short run, to see that it works
  --json FILE   also writes the rows to a file, by benchmark
  --write       also writes the tables into docs/benchmarks.md
  --help        this, or with a NAME how that one is measured
`;

process.exit(await main(process.argv.slice(2)));

/** Returns the exit code: 0 all targets were reached, 1 a target was missed, 2 an unknown benchmark or option. */
async function main(args: readonly string[]): Promise<number> {
  const name = args[0]?.startsWith("-") ? undefined : args[0];
  if (name !== undefined && !Object.hasOwn(BENCHMARKS, name)) {
    console.error(`there is no benchmark "${name}"; there are: ${Object.keys(BENCHMARKS).join(", ")}`);
    return 2;
  }
  const chosen = name === undefined ? BENCHMARKS : { [name]: BENCHMARKS[name]! };
  const line = readLine(name === undefined ? args : args.slice(1), name === undefined ? {} : chosen[name]!.options);
  if (line === undefined) return 2;
  if (line.help) printHelp(name);
  return line.help ? 0 : runAll(chosen, line);
}

async function runAll(chosen: Readonly<Record<string, Benchmark>>, line: Line): Promise<number> {
  for (const [what, fact] of Object.entries(machine())) console.log(`${what}: ${fact}`);
  const titles = sections();
  const measured = new Map<string, readonly Row[]>();
  for (const [name, { options, run }] of Object.entries(chosen)) {
    console.log(`\n${name}: ${titles.get(name)?.title}`);
    const defaults = Object.entries(options).map(([option, { value, quick = value }]) => [
      option,
      line.quick ? quick : value,
    ]);
    const rows = await run({ ...Object.fromEntries(defaults), ...line.numbers });
    printRows(rows);
    measured.set(name, rows);
  }
  if (line.json !== undefined) await writeFile(line.json, JSON.stringify(Object.fromEntries(measured), undefined, 2));
  if (line.write) writeTables(measured);
  const missed = [...measured.values()].flat().filter(({ wanted, reached }) => wanted !== undefined && !reached);
  console.log(missed.length === 0 ? "\nall reached" : `\n${missed.length} missed`);
  return missed.length === 0 ? 0 : 1;
}

function printRows(rows: readonly Row[]): void {
  const widthOf = (column: "what" | "measured") => Math.max(...rows.map((row) => row[column].length));
  const [what, measured] = [widthOf("what"), widthOf("measured")];
  for (const row of rows) {
    const line = `  ${row.what.padEnd(what)}  ${row.measured.padEnd(measured)}`;
    const verdict = row.reached ? "reached" : "MISSED";
    console.log(row.wanted === undefined ? line.trimEnd() : `${line}  ${verdict} (wanted ${row.wanted})`);
  }
}

/** Prints the usage of the benchmarks, or the method and options of one. */
function printHelp(name: string | undefined): void {
  const all = sections();
  if (name === undefined) {
    console.log(USAGE);
    const width = Math.max(...Object.keys(BENCHMARKS).map((one) => one.length));
    for (const one of Object.keys(BENCHMARKS)) console.log(`  ${one.padEnd(width)}   ${all.get(one)?.title}`);
    return;
  }
  const { title, text } = all.get(name)!;
  console.log(`${name}: ${title}\n\n${text}\n`);
  for (const [option, { meaning, value, quick = value }] of Object.entries(BENCHMARKS[name]!.options))
    console.log(`  --${option} N   ${meaning}; ${value}, with --quick ${quick}`);
}

interface Line {
  readonly quick: boolean;
  readonly write: boolean;
  readonly help: boolean;
  readonly json: string | undefined;
  readonly numbers: Readonly<Record<string, number>>;
}

function readLine(args: readonly string[], options: Benchmark["options"]): Line | undefined {
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
