import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** A block of code in a page. */
export interface Block {
  readonly page: string;
  /** Line number of its first line of code, from 1. */
  readonly line: number;
  /** The word after the fence. */
  readonly language: string;
  /** The rest of the fence: the name of the schema for JSON, or of the file for a program. */ readonly note: string;
  readonly text: string;
  /** The previous block, if only a sentence or two are between them. */
  readonly after: Block | undefined;
}

const ROOT = new URL("../../", import.meta.url);

/** Path of a page. */
export function fileOf(page: string): string {
  return fileURLToPath(new URL(page, ROOT));
}

/** Every documentation page, as paths from the root of the repository. */
export const PAGES: readonly string[] = [
  ...["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md"],
  ...readdirSync(fileOf("docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name.replaceAll("\\", "/")}`)
    .sort(),
];

/** The README in other languages: the same blocks, headings and links, with translated sentences. */
export const TRANSLATIONS: readonly string[] = readdirSync(fileOf("."))
  .filter((name) => /^README\..+\.md$/.test(name))
  .sort();

/** The text of a page. */
export function textOf(page: string): string {
  return readFileSync(fileOf(page), "utf8");
}

/**
 * The blocks of a page, in order.
 * @throws {Error} a fence that is not closed, or that names no language
 */
export function blocksOf(page: string): Block[] {
  const blocks: Block[] = [];
  const lines = textOf(page).split("\n");
  let heading = -1;
  for (let i = 0; i < lines.length; i++) {
    if (/^#{1,6} /.test(lines[i] ?? "")) heading = i;
    const [, indent, language, note = ""] = /^( *)```(\S*)\s*(.*)$/.exec(lines[i] ?? "") ?? [];
    if (language === undefined) continue;
    const first = i + 1;
    const end = lines.findIndex((line, i) => i >= first && line.trim() === "```");
    if (language === "" || end < 0) throw new Error(`${page}:${i + 1}: a block needs a language and an end`);
    const text = lines.slice(first, end).map((line) => line.slice(indent?.length));
    const previous = blocks.at(-1);
    blocks.push({
      page,
      line: first + 1,
      language,
      note: note.trim(),
      text: text.join("\n"),
      after: previous && previous.line > heading ? previous : undefined,
    });
    i = end;
  }
  return blocks;
}

/** A page without its blocks and its code, for checks of its prose. */
export function proseOf(page: string): string {
  return textOf(page)
    .replace(/^ *```[\s\S]*?^ *```$/gm, "")
    .replace(/`[^`\n]*`/g, "");
}
