import { posix } from "node:path";
import { expect, test } from "vitest";
import { importsOf, layerOf } from "./imports.ts";
import { type SourceFile, sourceFiles } from "./source-files.ts";

/** Maximum number of files in a folder, without those of its subfolders. */
const MAX_FILES = 25;

/** Length below which a file belongs in the file that imports it, if there is only one. */
const MIN_LINES = 40;
/** Maximum length of the two together. */
const MAX_LINES = 250;

/** Files that stay beside their only importer. */
const SEPARATE_FILES = new Map([
  ["adapters/cli/bench/echo.ts", "also the remote end of npm run bench"],
  ["adapters/console/app/dictionary/pt/status.ts", "each dictionary has a file per language"],
  ["adapters/console/app/pages/account/browser-name.ts", "a rule of a page, tested without a browser"],
  ["adapters/console/app/pages/call/levels.ts", "a rule of a page, tested without a browser"],
  ["adapters/console/app/pages/instances/code-pause.ts", "a rule of a page, tested without a browser"],
  ["adapters/defaults/docs-asset.ts", "finds its files by its own path"],
  ["src/application/call-audio/call-types/dynamic-stream.ts", "each call type has a file for its program"],
  ["src/domain/calls/message-start-input.ts", "keeps valibot out of the pages that list calls"],
  ["src/domain/dialling-rules/answer-rate.ts", "each dialling rule has a file"],
]);

const files = sourceFiles();

test(`no folder has more than ${MAX_FILES} files`, () => {
  expect(largeFolders(files.map(({ path }) => path))).toEqual([]);
  const paths = Array.from({ length: MAX_FILES + 1 }, (_, number) => `src/a/${number}.ts`);
  expect(largeFolders([...paths.slice(1), "src/a/b/0.ts"])).toEqual([]);
  expect(largeFolders(paths)).toEqual(["src/a"]);
});

test("a short file with one importer is merged into it", () => {
  expect([...mergeableFiles(files)].sort()).toEqual([...SEPARATE_FILES.keys()]);
});

test("a file is mergeable only if it is short, has one importer in its layer, and is not loaded later", () => {
  const lines = (count: number) => "//\n".repeat(count);
  const mergeableWith = (path: string, text: string) =>
    mergeableFiles([
      { path, text },
      { path: "src/base/b.ts", text: lines(5) },
    ]);
  expect(mergeableWith("src/base/a.ts", `import "./b.ts";\n`)).toEqual(["src/base/b.ts"]);
  expect(mergeableWith("src/base/a.ts", `await import("./b.ts");\n`)).toEqual([]);
  expect(mergeableWith("src/base/a.ts", `import "./b.ts";\n${lines(MAX_LINES)}`)).toEqual([]);
  expect(mergeableWith("src/domain/a.ts", `import "../base/b.ts";\n`)).toEqual([]);
});

function largeFolders(paths: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const path of paths) counts.set(posix.dirname(path), (counts.get(posix.dirname(path)) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > MAX_FILES).map(([folder]) => folder);
}

/** Short files that would fit into the only file that imports them, and would stay in their layer there. */
function mergeableFiles(allFiles: readonly SourceFile[]): readonly string[] {
  const importers = new Map<string, { file: SourceFile; dynamic: boolean }[]>();
  for (const file of allFiles)
    for (const { target, dynamic } of importsOf(file))
      importers.set(target, [...(importers.get(target) ?? []), { file, dynamic }]);
  return allFiles
    .filter((file) => {
      const fileImporters = importers.get(file.path) ?? [];
      const [first] = fileImporters;
      if (first === undefined || fileImporters.some(({ file: other, dynamic }) => dynamic || other !== first.file))
        return false;
      const isSmall = linesOf(file) < MIN_LINES && linesOf(file) + linesOf(first.file) <= MAX_LINES;
      return isSmall && layerOf(file.path) === layerOf(first.file.path);
    })
    .map(({ path }) => path);
}

function linesOf({ text }: SourceFile): number {
  return text.split("\n").length - 1;
}
