import { spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { type RuntimeName, runtimes } from "../support/runtimes.ts";
import type { Row } from "./benchmark.ts";

/** Export of a module that can be measured in a separate process. */
export interface Measurable {
  measure(options: Readonly<Record<string, number>>): Promise<readonly Row[]>;
}

/**
 * Measures in separate processes, under each runtime in turn; each row names its runtime.
 * @param module the URL of a {@link Measurable}
 * @throws {Error} a process ended without an answer
 */
export async function measureUnder(
  names: readonly RuntimeName[],
  module: string,
  options: Readonly<Record<string, number>>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const name of names)
    for (const row of await measureOnce(name, module, options)) rows.push({ ...row, what: `${name}: ${row.what}` });
  return rows;
}

async function measureOnce(
  name: RuntimeName,
  module: string,
  options: Readonly<Record<string, number>>,
): Promise<Row[]> {
  const { command, missing } = runtimes.find((runtime) => runtime.name === name)!;
  const [program, ...flags] = command;
  if (program === undefined) throw new Error(missing);
  const self = fileURLToPath(import.meta.url);
  const more = name.startsWith("node") ? ["--expose-gc"] : name === "deno" ? ["--allow-run"] : [];
  const args = [...flags, ...more, self, module, JSON.stringify(options)];
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  let answer = "";
  for await (const chunk of child.stdout.setEncoding("utf8")) answer += chunk;
  const lines = answer.trim().split("\n");
  try {
    return JSON.parse(lines.at(-1) ?? "") as Row[];
  } catch (cause) {
    throw new Error(`${name} ended without rows; it printed: ${answer}`, { cause });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [module = "", options = "{}"] = process.argv.slice(2);
  const { measure } = (await import(module)) as Measurable;
  console.log(JSON.stringify(await measure(JSON.parse(options))));
  process.exit(0);
}
