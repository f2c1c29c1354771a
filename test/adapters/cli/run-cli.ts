import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { COMPILE_CACHE } from "../../support/compile-cache.ts";
import { endWithThisProcess, type Runtime, runtimes } from "../../support/runtimes.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** Path of the command line's main program. */
export const cli: string = fileURLToPath(new URL("../../../adapters/cli/main.ts", import.meta.url));

/** The runtime on which the command line is tested. */
export const node: Runtime = runtimes.find(({ name }) => name === "node26") as Runtime;

/** Result of a finished command. */
export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that may still be running. */
export interface RunningCommand {
  readonly child: ChildProcess;
  readonly finished: Promise<CommandResult>;
  /** Output of the command so far. */
  stdout(): string;
}

export interface RunOptions {
  /** The entire environment, apart from `PATH`, the port and the folders of Node and Deno. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly runtime?: Runtime;
  /** Program to run instead of the command line. */
  readonly program?: string;
}

/** A fresh folder that may become a data folder. */
export function freshFolder(): string {
  return temporaryFolder("cli");
}

/** Starts a command that runs for at most a minute, by default in a folder where it cannot damage other files. */
export function launch(args: readonly string[], options: RunOptions = {}): RunningCommand {
  const { env = {}, cwd = freshFolder(), runtime = node, program: script = cli } = options;
  const [program = "", ...runtimeArgs] = runtime.command;
  const { PATH = "" } = process.env;
  const child = spawn(program, [...runtimeArgs, script, ...args], {
    cwd,
    env: { PATH, NODE_COMPILE_CACHE: COMPILE_CACHE, PORT: "0", DENO_NO_UPDATE_CHECK: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 60_000,
  });
  endWithThisProcess(child);
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (data) => {
    stdout += data;
  });
  child.stderr.on("data", (data) => {
    stderr += data;
  });
  const finished = new Promise<CommandResult>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout, stderr }));
  });
  return { child, finished, stdout: () => stdout };
}

/** Runs a command to completion. */
export function run(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd: string = freshFolder(),
): Promise<CommandResult> {
  return launch(args, { env, cwd }).finished;
}
