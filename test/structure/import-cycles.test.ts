import { expect, test } from "vitest";
import { importCycles } from "./import-cycles.ts";
import { sourceFiles } from "./source-files.ts";

/** Maximum number of files that may import each other. */
const MAX_FILES = 5;

test(`no more than ${MAX_FILES} files import each other, types included`, () => {
  expect(importCycles(sourceFiles()).filter((cycle) => cycle.length > MAX_FILES)).toEqual([]);
});

test("a cycle is found through types, and a chain is none", () => {
  const file = (path: string, ...targets: string[]) => ({
    path,
    text: targets.map((target) => `import type { X } from "./${target}";\n`).join(""),
  });
  const chain = [file("src/a.ts", "b.ts"), file("src/b.ts", "c.ts"), file("src/c.ts")];
  expect(importCycles(chain)).toEqual([]);
  const cycle = [...chain.slice(0, 2), file("src/c.ts", "d.ts"), file("src/d.ts", "b.ts"), file("src/e.ts", "a.ts")];
  expect(importCycles(cycle)).toEqual([["src/b.ts", "src/c.ts", "src/d.ts"]]);
});
