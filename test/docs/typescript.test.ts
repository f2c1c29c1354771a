import { dirname, join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { type Block, blocksOf, fileOf, PAGES } from "./pages.ts";

/** A block with imports begins a program; the blocks of the page without any go on with it. */
function programsOf(page: string): Block[][] {
  const programs: Block[][] = [];
  for (const block of blocksOf(page).filter(({ language }) => language === "ts")) {
    const last = programs.at(-1);
    if (/^import /m.test(block.text) || !last) programs.push([block]);
    else last.push(block);
  }
  return programs;
}

const programs = new Map(
  PAGES.flatMap(programsOf).map((blocks) => {
    const { page, line } = blocks[0]!;
    return [fileOf(`docs-programs/${page}.${line}.ts`), blocks] as const;
  }),
);

test("there is TypeScript in the pages", () => {
  expect(programs.size).toBeGreaterThan(0);
});

test("every block of TypeScript is right, by the names under which the package is installed", {
  timeout: 120_000,
}, () => {
  const config = ts.parseJsonConfigFileContent(
    ts.readConfigFile(fileOf("tsconfig.json"), ts.sys.readFile).config,
    ts.sys,
    fileOf("."),
  );
  const host = ts.createCompilerHost(config.options);
  const { fileExists, readFile, getSourceFile, directoryExists } = host;
  const sourceOf = (file: string) => {
    const blocks = programs.get(file);
    return blocks && `export {};\n${blocks.map(({ text }) => text).join("\n")}\n`;
  };
  host.fileExists = (file) => programs.has(file) || fileExists(file);
  host.readFile = (file) => sourceOf(file) ?? readFile(file);
  host.directoryExists = (folder) =>
    [...programs.keys()].some((file) => dirname(file) === folder) || (directoryExists?.(folder) ?? false);
  host.getSourceFile = (file, options, ...more) => {
    const text = sourceOf(file);
    return text === undefined ? getSourceFile(file, options, ...more) : ts.createSourceFile(file, text, options);
  };
  const program = ts.createProgram([...programs.keys()], config.options, host);
  const found = [...programs.keys()].flatMap((file) => {
    const source = program.getSourceFile(file)!;
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map((fault) =>
      told(programs.get(file)!, source, fault),
    );
  });
  expect(found).toEqual([]);
});

/** A fault as the reader of a page would find it. */
function told(blocks: readonly Block[], source: ts.SourceFile, { start = 0, messageText }: ts.Diagnostic): string {
  let line = source.getLineAndCharacterOfPosition(start).line - 1;
  const block = blocks.find(({ text }) => {
    const lines = text.split("\n").length;
    if (line < lines) return true;
    line -= lines;
    return false;
  });
  return `${join(block?.page ?? "?")}:${(block?.line ?? 0) + line}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
}
