import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { endWithThisProcess, type Runtime, runtimes } from "../../support/runtimes.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** The command line's program. */
export const cli: string = fileURLToPath(new URL("../../../adapters/cli/main.ts", import.meta.url));

/** The runtime that the command line is tried under. */
export const node: Runtime = runtimes.find(({ name }) => name === "node26") as Runtime;

/** What a finished command has left. */
export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A fresh folder that may become a data folder. */
export function freshFolder(): string {
  return temporaryFolder("cli");
}

/** Runs a command to its end, at most 20 s long; unless told otherwise in a folder where nothing can be spoilt. */
export function run(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd: string = freshFolder(),
): Promise<Finished> {
  const [program = "", ...before] = node.command;
  const { PATH = "" } = process.env;
  const child = spawn(program, [...before, cli, ...args], {
    cwd,
    env: { PATH, PORT: "0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 20_000,
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
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout, stderr }));
  });
}
