import { execFile } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startEcho } from "../../../adapters/cli/bench/echo.ts";
import { type Row, row } from "../harness/benchmark.ts";
import { commandHere, isProgram, startProgram } from "../harness/programs.ts";
import { inFolder } from "../harness/stored-data.ts";

/**
 * Measures with an echo running: another process that returns every datagram to its source, in C if there is a compiler, else in JavaScript under this runtime.
 * @param measure gets the port of the echo, on 127.0.0.1
 */
export function withEcho(measure: (port: number) => Promise<readonly Row[]>): Promise<Row[]> {
  return inFolder(async (folder) => {
    const program = join(folder, "echo");
    const source = fileURLToPath(new URL("./echo.c", import.meta.url));
    const isCompiled = await promisify(execFile)("cc", ["-O2", "-o", program, source]).then(
      () => true,
      () => false,
    );
    const echo = startProgram(isCompiled ? [program] : commandHere(import.meta.url));
    try {
      const rows = await measure(Number(await echo.line()));
      return [...rows, row("echo on the other core", `in ${isCompiled ? "C" : "JavaScript"}`)];
    } finally {
      await echo.end();
    }
  });
}

if (isProgram(import.meta.url)) {
  const { ports } = await startEcho(1);
  console.log(ports[0]);
  process.stdin.on("end", () => process.exit(0)).resume();
}
