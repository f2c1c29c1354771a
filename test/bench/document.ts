import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Benchmark, Row } from "./benchmark.ts";
import { machine } from "./machine.ts";
import { verdict } from "./print.ts";

const PATH = fileURLToPath(new URL("../../docs/benchmarks.md", import.meta.url));

const INTRODUCTION = `# Benchmarks

\`npm run bench\` measures everything on this page, \`npm run bench -- --write\` also writes it here. Read the ratios: each
is taken in one run against a baseline written beside it in \`test/bench\`, in rounds that alternate between the two, and
the median counts. Absolute figures are this machine's, two virtual cores that it shares with others.
`;

/**
 * Keeps tables in `docs/benchmarks.md`. Benchmarks that did not run keep the section that they have.
 * @param measured rows by benchmark
 */
export async function writeDocument(
  benchmarks: Readonly<Record<string, Benchmark>>,
  measured: ReadonlyMap<string, readonly Row[]>,
): Promise<void> {
  const kept = sectionsOf(await readFile(PATH, "utf8").catch(() => ""));
  const sections = Object.entries(benchmarks).flatMap(([name, benchmark]) => {
    const rows = measured.get(name);
    return rows ? section(name, benchmark, rows) : (kept.get(name) ?? []);
  });
  const facts = Object.entries(machine()).map(([name, fact]) => `| ${name} | ${fact} |`);
  const table = `| The machine | |\n|---|---|\n${facts.join("\n")}\n`;
  await writeFile(PATH, [INTRODUCTION, table, ...sections].join("\n"));
}

/** Each benchmark's section by its name: a heading with the name in it, and all up to the next one. */
function sectionsOf(document: string): Map<string, string> {
  const sections = document.split(/^(?=## )/m).slice(1);
  return new Map(sections.map((text) => [/^## .*`(.+?)`$/m.exec(text)?.[1] ?? "", `${text.trimEnd()}\n`]));
}

function section(name: string, { title, method, remarks }: Benchmark, rows: readonly Row[]): string {
  const lines = rows.map((row) => {
    const reached = row.wanted === undefined ? "" : verdict(row) === "MISSED" ? "**missed**" : "reached";
    return `| ${row.what} | ${row.measured} | ${row.wanted ?? ""} | ${reached} |`;
  });
  const table = `| what | measured | wanted | |\n|---|---|---|---|\n${lines.join("\n")}`;
  const when = `Measured on ${new Date().toISOString().slice(0, 10)}.`;
  return `${[`## ${title}: \`${name}\``, method, table, remarks, when].filter(Boolean).join("\n\n")}\n`;
}
