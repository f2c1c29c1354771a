import { spawn } from "node:child_process";
import { endWithThisProcess } from "../../support/runtimes.ts";

/** Result of a finished program. */
export interface FinishedRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a program to its end, at most four minutes long. */
export function run([program = "", ...args]: readonly string[], { cwd, env }: RunOptions): Promise<FinishedRun> {
  const child = spawn(program, args, {
    cwd,
    env: { ...ownEnvironment(), PORT: "0", NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 240_000,
  });
  endWithThisProcess(child);
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (data) => {
    stdout += data;
  });
  child.stderr.on("data", (data) => {
    stderr += data;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout, stderr }));
  });
}

/** Runs a program that must succeed, and returns its output. @throws {Error} it failed; the message shows all output */
export async function mustRun(command: readonly string[], options: RunOptions): Promise<string> {
  const { code, stdout, stderr } = await run(command, options);
  if (code === 0) return stdout;
  throw new Error(`${command.join(" ")} ended with ${code}:\n${stdout}\n${stderr}`);
}

/** The environment without the variables that npm and the test runner set for programs of this repository. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const runnerVariables =
    /^(VITEST|NODE_ENV$|NODE_OPTIONS$|npm_package_|npm_lifecycle_|npm_config_(local_)?prefix$|INIT_CWD$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !runnerVariables.test(name)));
}
