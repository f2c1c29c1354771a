import { parseArgs } from "node:util";
import type { Benchmark, Row } from "./benchmark.ts";
import { BENCHMARKS } from "./benchmarks.ts";
import { writeDocument } from "./document.ts";
import { machine } from "./machine.ts";
import { printMethod, printRows, printUsage, verdict } from "./print.ts";

process.exit(await main(process.argv.slice(2)));

/** Returns the exit code: 0 if all targets were reached, 1 if not, 2 for an unknown benchmark or option. */
async function main(args: readonly string[]): Promise<number> {
  const [name] = args.filter((arg) => !arg.startsWith("-"));
  const asked = args[0] === name ? name : undefined;
  if (asked !== undefined && !(asked in BENCHMARKS)) {
    console.error(`there is no benchmark "${asked}"; there are: ${Object.keys(BENCHMARKS).join(", ")}`);
    return 2;
  }
  const chosen = Object.entries(BENCHMARKS).filter(([one]) => asked === undefined || one === asked);
  const values = read(asked === undefined ? args : args.slice(1), asked === undefined ? [] : chosen);
  if (!values) return 2;
  if (values.help) {
    if (asked === undefined) printUsage(BENCHMARKS);
    else for (const [one, benchmark] of chosen) printMethod(one, benchmark);
    return 0;
  }
  return runAll(chosen, values);
}

async function runAll(
  chosen: readonly (readonly [string, Benchmark])[],
  { quick, write, numbers }: Asked,
): Promise<number> {
  for (const [what, fact] of Object.entries(machine())) console.log(`${what}: ${fact}`);
  const measured = new Map<string, readonly Row[]>();
  for (const [name, { title, options, run }] of chosen) {
    console.log(`\n${name}: ${title}`);
    const defaults = Object.entries(options).map(([option, { value, quick: short = value }]) => [
      option,
      quick ? short : value,
    ]);
    const rows = await run({ ...Object.fromEntries(defaults), ...numbers });
    printRows(rows);
    measured.set(name, rows);
  }
  if (write) await writeDocument(BENCHMARKS, measured);
  const missed = [...measured.values()].flat().filter((row) => row.wanted !== undefined && verdict(row) === "MISSED");
  console.log(missed.length === 0 ? "\nall reached" : `\n${missed.length} missed`);
  return missed.length === 0 ? 0 : 1;
}

interface Asked {
  readonly quick: boolean;
  readonly write: boolean;
  readonly help: boolean;
  readonly numbers: Readonly<Record<string, number>>;
}

function read(args: readonly string[], chosen: readonly (readonly [string, Benchmark])[]): Asked | undefined {
  const names = chosen.flatMap(([, { options }]) => Object.keys(options));
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        quick: { type: "boolean", default: false },
        write: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
        ...Object.fromEntries(names.map((name) => [name, { type: "string" as const }])),
      },
    });
    const { quick = false, write = false, help = false, ...given } = values;
    const numbers = Object.entries(given).map(([name, text]) => {
      const number = Number(text);
      if (!(number > 0)) throw new Error(`--${name} needs a number, not "${text}"`);
      return [name, number];
    });
    return { quick, write, help, numbers: Object.fromEntries(numbers) };
  } catch (error) {
    console.error((error as Error).message);
    return undefined;
  }
}
