import { readFile, writeFile } from "node:fs/promises";
import { expect } from "vitest";
import { fileOf } from "./pages.ts";

/** Compares a page with the generated text; with `UPDATE_DOCS=1` the page is written instead. */
export async function expectPage(page: string, text: string): Promise<void> {
  if (process.env.UPDATE_DOCS) await writeFile(fileOf(page), text);
  expect(await readFile(fileOf(page), "utf8"), `${page} is made by a test: run it with UPDATE_DOCS=1`).toBe(text);
}

/** A Markdown table. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), `|${head.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}

/** Compares the part of a page between `<!-- name -->` and the next `<!-- -->` with the generated text. */
export async function expectPart(page: string, name: string, text: string): Promise<void> {
  const pageText = await readFile(fileOf(page), "utf8");
  const [before, rest = ""] = pageText.split(`<!-- ${name} -->\n`);
  expect(rest, `${page} has no <!-- ${name} -->`).not.toBe("");
  await expectPage(page, `${before}<!-- ${name} -->\n\n${text}\n\n${rest.slice(rest.indexOf("<!-- -->"))}`);
}
