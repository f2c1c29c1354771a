import { cpus, release, totalmem, type } from "node:os";
import process from "node:process";

/** The machine that is measured; each fact is `unknown` if the system does not report it. */
export function machine(): Readonly<Record<"Processor" | "Memory" | "Operating system", string>> {
  const [first, ...others] = fact(cpus, []);
  return {
    Processor: first === undefined ? "unknown" : `${1 + others.length} × ${first.model}`,
    Memory: fact(() => `${(totalmem() / 2 ** 30).toFixed(0)} GiB`, "unknown"),
    "Operating system": fact(() => `${type()} ${release()}, ${process.arch}`, "unknown"),
  };
}

/** Deno may forbid the question. */
function fact<T>(read: () => T, unknown: T): T {
  try {
    return read();
  } catch {
    return unknown;
  }
}
