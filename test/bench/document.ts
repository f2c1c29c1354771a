import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { machine } from "../../adapters/cli/bench/machine.ts";
import { runtimes } from "../support/runtimes.ts";
import type { Row } from "./harness/benchmark.ts";

const PATH = fileURLToPath(new URL("../../docs/benchmarks.md", import.meta.url));
const HEADING = /^## (.*): `(.+?)`$/m;
const TABLE = /^(?:\|.*\n)+/m;

/** A benchmark's section in `docs/benchmarks.md`. */
export interface Section {
  readonly title: string;
  /** Method and remarks, without the table. */
  readonly text: string;
}

/** Reads the sections by the names of their benchmarks. */
export function sections(): ReadonlyMap<string, Section> {
  return new Map(
    parts().flatMap((part) => {
      const [heading = "", title = "", name] = HEADING.exec(part) ?? [];
      if (name === undefined) return [];
      const text = part
        .replace(heading, "")
        .replace(TABLE, "")
        .replace(/\n{3,}/g, "\n\n")
        .trim();
      return [[name, { title, text }] as const];
    }),
  );
}

/** Writes the measured rows and the machine into `docs/benchmarks.md`. */
export function writeTables(measured: ReadonlyMap<string, readonly Row[]>): void {
  const measuredOn = `Measured on ${new Date().toISOString().slice(0, 10)}.`;
  const newParts = parts().map((part) => {
    const name = HEADING.exec(part)?.[2];
    if (name === undefined) return part.replace(TABLE, () => machineTable());
    const rows = measured.get(name);
    return rows
      ? part.replace(TABLE, () => tableOf(rows)).replace(/^(?:Measured on .*|Not measured yet\.)$/m, measuredOn)
      : part;
  });
  writeFileSync(PATH, newParts.join(""));
}

/** The page, cut before each heading. */
function parts(): string[] {
  return readFileSync(PATH, "utf8").split(/^(?=## )/m);
}

function tableOf(rows: readonly Row[]): string {
  const lines = rows.map(({ figure, measured, target, reached }) => {
    const verdict = target === undefined ? "" : reached ? "reached" : "**missed**";
    return `| ${figure} | ${measured} | ${target ?? ""} | ${verdict} |\n`;
  });
  return `| figure | measured | target | |\n|---|---|---|---|\n${lines.join("")}`;
}

function machineTable(): string {
  const rows = Object.entries(measuredMachine()).map(([name, fact]) => `| ${name} | ${fact} |\n`);
  return `| The machine | |\n|---|---|\n${rows.join("")}`;
}

/** The machine on which the figures were measured. */
export function measuredMachine(): Readonly<Record<string, string>> {
  return {
    ...machine(),
    Runtimes: runtimes.flatMap(({ name, command }) => version(name, command[0]) ?? []).join(" · "),
  };
}

function version(name: string, program: string | undefined): string | undefined {
  if (program === undefined) return undefined;
  const number = /\d+\.\d+\.\d+/.exec(execFileSync(program, ["--version"], { encoding: "utf8" }))?.[0];
  return `${name.startsWith("node") ? "Node" : name[0]?.toUpperCase() + name.slice(1)} ${number}`;
}
