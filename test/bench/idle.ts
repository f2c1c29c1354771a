import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { buildFault } from "../support/built.ts";
import { freePort } from "../support/free-port.ts";
import type { Runtime } from "../support/runtimes.ts";
import { atMost, benchmark, formatValue, progress, type Row, row } from "./harness/benchmark.ts";
import { ALL_RUNTIMES, commandOf, runtimeNamed, startProgram } from "./harness/programs.ts";
import { residentMiB } from "./harness/resources.ts";
import { inFolder } from "./harness/stored-data.ts";

const CLI = new URL("../../dist/cli.js", import.meta.url).href;
/** A trunk that nobody calls through; its address is never contacted. */
const TRUNKS = JSON.stringify([{ name: "acme", server: "sip:127.0.0.1:5999" }]);
const EARLY_S = 10;
const MAX_MIB = 150;

/** Resident memory of servers without calls. */
export const IDLE = benchmark({
  options: { seconds: { meaning: "seconds from the start to the last look", value: 330, quick: 15 } },
  async run({ seconds }) {
    const fault = buildFault();
    if (fault !== undefined) throw new Error(fault);
    const runtimes = ALL_RUNTIMES.map(runtimeNamed).filter(({ missing }) => missing === undefined);
    progress(`${runtimes.map(({ name }) => name).join(", ")}: idle for ${seconds} s`);
    const rows = await Promise.all(runtimes.map((runtime) => inFolder((data) => measure(runtime, data, seconds))));
    return rows.flat();
  },
});

async function measure(runtime: Runtime, data: string, seconds: number): Promise<Row[]> {
  const port = String(await freePort());
  const command = commandOf(runtime, CLI, ["serve", "--port", port, "--data", data]);
  const server = startProgram(["env", `RINGPORT_SIP_TRUNKS=${TRUNKS}`, ...command]);
  try {
    await pause(EARLY_S * 1000);
    const early = residentMiB(server.pid);
    await pause((seconds - EARLY_S) * 1000);
    const { status } = await fetch(`http://127.0.0.1:${port}/healthz`);
    if (status !== 200) throw new Error(`${runtime.name}: /healthz responded with ${status}`);
    const late = residentMiB(server.pid);
    const figure = `${runtime.name}: resident memory after ${seconds} s`;
    return [
      row(`${runtime.name}: resident memory after ${EARLY_S} s, speech warmed up`, formatValue(early, "MiB", 0)),
      runtime.name === "node26" ? atMost(figure, late, MAX_MIB, "MiB") : row(figure, formatValue(late, "MiB", 0)),
    ];
  } finally {
    process.kill(server.pid, "SIGTERM");
    await server.end();
  }
}
