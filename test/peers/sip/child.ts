import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { endWithThisProcess } from "../../support/runtimes.ts";
import { until } from "../../support/server-client.ts";

process.setMaxListeners(100); // each child is ended with this process

/** A program that runs during the tests. Its output is kept in a file. */
export interface Child {
  readonly pid: number;
  /** Output of the program so far. */
  output(): string;
  /** Waits until it has printed this. */
  waitForOutput(pattern: RegExp, withinMs?: number): Promise<RegExpExecArray>;
  /** Exit code of the program; null when a signal ended it. */
  readonly exitCode: Promise<number | null>;
  /** Ends the program immediately, without leftovers. Idempotent. */
  kill(signal?: NodeJS.Signals): Promise<void>;
}

/** Starts a program. @param log file for its output */
export function startChild(
  program: string,
  args: readonly string[],
  { cwd, log }: { readonly cwd: string; readonly log: string },
): Child {
  const file = openSync(log, "w");
  const child = spawn(program, args, { cwd, stdio: ["ignore", file, file] });
  endWithThisProcess(child);
  closeSync(file);
  const exit = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code));
  });
  exit.catch(() => {}); // without a waiter, the error would be unhandled
  const output = (): string => readFileSync(log, "utf8");
  return {
    pid: child.pid ?? 0,
    output,
    exitCode: exit,
    async waitForOutput(pattern, withinMs = 5_000) {
      const match = await until(
        () => (child.exitCode === null ? pattern.exec(output()) : (pattern.exec(output()) ?? "gone")),
        (answer) => answer !== null,
        withinMs,
        `${program} to print ${pattern}`,
      ).catch(async (error: Error) => {
        child.kill("SIGKILL");
        await exit;
        throw new Error(`${error.message}; it printed:\n${output().slice(-2000)}`, { cause: error });
      });
      if (match === "gone" || match === null)
        throw new Error(
          `${program} ended with ${child.exitCode} before it printed ${pattern}:\n${output().slice(-2000)}`,
        );
      return match;
    },
    async kill(signal = "SIGKILL") {
      child.kill(signal);
      await exit.catch(() => {});
    },
  };
}
