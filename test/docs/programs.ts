import { type Block, blocksOf, PAGES } from "./pages.ts";

/** A program on a page: a block with imports, and the blocks without imports that continue it. */
export interface Program {
  readonly page: string;
  /** Number of its first line, from 1. */
  readonly line: number;
  readonly blocks: readonly Block[];
  readonly text: string;
}

/** The programs of all pages. */
export function programs(): Program[] {
  return PAGES.flatMap((page) => {
    const groups: Block[][] = [];
    for (const block of blocksOf(page).filter(({ language }) => language === "ts")) {
      const last = groups.at(-1);
      if (/^import /m.test(block.text) || !last) groups.push([block]);
      else last.push(block);
    }
    return groups.map((blocks) => ({
      page,
      line: blocks[0]!.line,
      blocks,
      text: blocks.map(({ text }) => text).join("\n"),
    }));
  });
}
