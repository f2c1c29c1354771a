import { execFileSync } from "node:child_process";
import { cpus, release, totalmem, type } from "node:os";
import { runtimes } from "../support/runtimes.ts";

/** Properties of the machine that measured the figures, by name. */
export function machine(): Readonly<Record<string, string>> {
  const [first] = cpus();
  return {
    Processor: `${cpus().length} × ${first?.model ?? "unknown"}`,
    Memory: `${(totalmem() / 2 ** 30).toFixed(0)} GiB`,
    "Operating system": `${type()} ${release()}, ${process.arch}`,
    Runtimes: runtimes.flatMap(({ name, command }) => version(name, command[0]) ?? []).join(" · "),
  };
}

function version(name: string, program: string | undefined): string | undefined {
  if (program === undefined) return undefined;
  const number = /\d+\.\d+\.\d+/.exec(execFileSync(program, ["--version"], { encoding: "utf8" }))?.[0];
  return `${name.startsWith("node") ? "Node" : name[0]?.toUpperCase() + name.slice(1)} ${number}`;
}
