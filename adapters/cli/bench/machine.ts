import { cpus, release, totalmem, type } from "node:os";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";

/** The machine that is measured; each fact is `unknown` if the system does not report it. */
export function machine(): Readonly<Record<"Processor" | "Memory" | "Operating system", string>> {
  const [first, ...others] = fact(cpus, []);
  return {
    Processor: first === undefined ? "unknown" : `${1 + others.length} × ${first.model}`,
    Memory: fact(() => `${(totalmem() / 2 ** 30).toFixed(0)} GiB`, "unknown"),
    "Operating system": fact(() => `${type()} ${release()}, ${process.arch}`, "unknown"),
  };
}

/** Length of the look at other programs, ms. */
const LOOK_MS = 1_000;

/** The load of other programs while this one waits, such as `use 12 % of the processors`. */
export async function otherLoad(): Promise<string> {
  const before = processorTimes();
  await pause(LOOK_MS);
  const after = processorTimes();
  const totalMs = after.total - before.total;
  return totalMs > 0
    ? `use ${Math.round(100 * (1 - (after.idle - before.idle) / totalMs))} % of the processors`
    : "unknown";
}

function processorTimes(): { total: number; idle: number } {
  let [total, idle] = [0, 0];
  for (const { times } of fact(cpus, [])) {
    total += Object.values(times).reduce((sum, ms) => sum + ms, 0);
    idle += times.idle;
  }
  return { total, idle };
}

/** Deno may forbid the question. */
function fact<T>(read: () => T, unknown: T): T {
  try {
    return read();
  } catch {
    return unknown;
  }
}
