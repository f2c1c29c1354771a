import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { endWithThisProcess, type Runtime, type RuntimeName, runtimes } from "../../support/runtimes.ts";
import type { Row, Values } from "./benchmark.ts";

const KILL_AFTER_MS = 10_000;
export const ALL_RUNTIMES: readonly RuntimeName[] = ["node26", "bun", "deno"];

/** A program that prints lines, and ends when its standard input is closed. */
export interface Program {
  readonly pid: number;
  /** Reads the next line. @throws {Error} if the program has ended */
  line(): Promise<string>;
  /** Writes a line to its input; resolves with the next output line. */
  request(line: string): Promise<string>;
  /** Closes its input; resolves when the program has ended. */
  end(): Promise<void>;
}

/** Starts a program. @param command program and its arguments */
export function startProgram(command: readonly string[]): Program {
  const child = spawnChild(command);
  const exit = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  const lines = createInterface(child.stdout!)[Symbol.asyncIterator]();
  const line = async (): Promise<string> => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`${command.join(" ")} ended with ${child.exitCode ?? child.signalCode}`);
    return value;
  };
  let lastRequest: Promise<unknown> = Promise.resolve();
  return {
    pid: child.pid ?? 0,
    line,
    request(requestLine) {
      const response = lastRequest.then(() => {
        child.stdin!.write(`${requestLine}\n`);
        return line();
      });
      lastRequest = response.catch(() => {});
      return response;
    },
    async end() {
      child.stdin!.end();
      const killTimer = setTimeout(() => child.kill("SIGKILL"), KILL_AFTER_MS);
      await exit;
      clearTimeout(killTimer);
    },
  };
}

/** Runs a program to its end; resolves with its output. */
export async function output(command: readonly string[], input = ""): Promise<string> {
  const child = spawnChild(command);
  child.stdin!.on("error", () => {}).end(input);
  return text(child.stdout!);
}

function spawnChild([file = "", ...args]: readonly string[]): ChildProcess {
  const child = spawn(file, args, { stdio: ["pipe", "pipe", "inherit"] });
  endWithThisProcess(child);
  return child;
}

/** The command that runs a module under a runtime. @param flags flags for the runtime */
export function commandOf(
  { command, missing }: Runtime,
  module: string,
  args: readonly string[],
  flags: readonly string[] = [],
): string[] {
  if (command.length === 0) throw new Error(missing);
  return [...command, ...flags, fileURLToPath(module), ...args];
}

/** The command that runs a module in the runtime of this process. */
export function commandHere(module: string, ...args: readonly string[]): string[] {
  return [process.execPath, ...process.execArgv, fileURLToPath(module), ...args];
}

/** The path of a measured server. */
export function serverScript(name: string): string {
  return fileURLToPath(new URL(`../servers/${name}.ts`, import.meta.url));
}

/** True if this module is the main program of the process. */
export function isProgram(module: string): boolean {
  return process.argv[1] === fileURLToPath(module);
}

export function runtimeNamed(name: RuntimeName): Runtime {
  return runtimes.find((runtime) => runtime.name === name)!;
}

/** Measures with each installed runtime in succession; each row names its runtime. */
export async function underEach(
  names: readonly RuntimeName[],
  measure: (runtime: Runtime) => Promise<readonly Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const name of names) {
    const runtime = runtimeNamed(name);
    if (runtime.missing !== undefined) continue;
    for (const row of await measure(runtime)) rows.push({ ...row, figure: `${name}: ${row.figure}` });
  }
  return rows;
}

/** Exports of a module that is measured in a separate process. */
export type Measure<Options = Values> = (options: Options) => Promise<readonly Row[]>;

/** Runs the `measure` of a module in a process of each runtime. @param module its URL */
export function insideEach(names: readonly RuntimeName[], module: string, options: object): Promise<Row[]> {
  return underEach(names, async (runtime) => {
    const flags = runtime.name === "deno" ? ["--allow-run"] : [];
    const program = new URL("./inside.ts", import.meta.url).href;
    const programOutput = await output(commandOf(runtime, program, [module, JSON.stringify(options)], flags));
    try {
      return JSON.parse(programOutput.trim().split("\n").at(-1) ?? "") as Row[];
    } catch (cause) {
      throw new Error(`${runtime.name} ended without rows; it printed: ${programOutput}`, { cause });
    }
  });
}
