import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";
import { endWithThisProcess } from "../support/runtimes.ts";
import { until } from "../support/server-client.ts";

/** Runs a program again and again, and prints the process id of each run. */
const LOOP = 'while :; do "$@" & echo "pid $!"; wait $!; sleep 0.2; done';
const PATIENCE_MS = 60_000;

/** A program behind a supervisor: a loop of bash that starts it again after its end. */
export class Supervised {
  readonly #loop: ChildProcess;
  /** Everything that was printed so far, by the line. */
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

  /** What the first line matches that fits. @param from the number of lines that are passed over */
  async prints(pattern: RegExp, from = 0): Promise<string> {
    const find = () => this.printed.slice(from).flatMap((line) => pattern.exec(line)?.[0] ?? [])[0];
    return (await until(find, (found) => found !== undefined, PATIENCE_MS, `a line like ${pattern}`))!;
  }

  /** Ends it for good; twice is fine. */
  end(signal: "SIGTERM" | "SIGKILL"): void {
    this.#loop.kill("SIGKILL");
    try {
      process.kill(this.pid, signal);
    } catch {} // it is gone
  }
}
