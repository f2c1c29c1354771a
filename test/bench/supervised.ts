import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";
import { endWithThisProcess } from "../support/runtimes.ts";
import { until } from "../support/server-client.ts";

/** Runs a program in a loop, and prints the process id of each run. */
const LOOP = 'while :; do "$@" & echo "pid $!"; wait $!; sleep 0.2; done';
const PATIENCE_MS = 60_000;

/** A supervised program: a bash loop restarts it when it ends. */
export class Supervised {
  readonly #loop: ChildProcess;
  /** The lines printed so far. */
  readonly printed: string[] = [];

  constructor(command: readonly string[], env: Readonly<Record<string, string>>) {
    this.#loop = spawn("bash", ["-c", LOOP, "supervisor", ...command], {
      env: { ...process.env, NO_COLOR: "1", ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    endWithThisProcess(this.#loop);
    for (const input of [this.#loop.stdout!, this.#loop.stderr!])
      createInterface({ input }).on("line", (line) => this.printed.push(line));
  }

  /** The program that runs now. */
  get pid(): number {
    return Number(this.printed.findLast((line) => line.startsWith("pid "))?.slice(4));
  }

  /** The match in the first matching line. @param from number of lines to skip */
  async prints(pattern: RegExp, from = 0): Promise<string> {
    const find = () => this.printed.slice(from).flatMap((line) => pattern.exec(line)?.[0] ?? [])[0];
    return (await until(find, (found) => found !== undefined, PATIENCE_MS, `a line like ${pattern}`))!;
  }

  /** Ends it permanently. Idempotent. */
  end(signal: "SIGTERM" | "SIGKILL"): void {
    this.#loop.kill("SIGKILL");
    try {
      process.kill(this.pid, signal);
    } catch {} // it has already ended
  }
}
