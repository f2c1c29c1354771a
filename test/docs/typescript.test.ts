import { dirname, join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { type Block, fileOf } from "./pages.ts";
import { programs } from "./programs.ts";

const files = new Map(
  programs().map(({ page, line, blocks }) => {
    // A block that names its file can be imported by the others of its page.
    const name = blocks[0]?.note || `${line}.ts`;
    return [fileOf(`docs-programs/${page}/${name}`), blocks] as const;
  }),
);

test("every TypeScript block in the docs compiles", {
  timeout: 120_000,
}, () => {
  expect(files.size).toBeGreaterThan(10);
  const config = ts.parseJsonConfigFileContent(
    ts.readConfigFile(fileOf("tsconfig.json"), ts.sys.readFile).config,
    ts.sys,
    fileOf("."),
  );
  const host = ts.createCompilerHost(config.options);
  const { fileExists, readFile, getSourceFile, directoryExists } = host;
  const sourceOf = (file: string) => {
    const blocks = files.get(file);
    return blocks && `export {};\n${blocks.map(({ text }) => text).join("\n")}\n`;
  };
  host.fileExists = (file) => files.has(file) || fileExists(file);
  host.readFile = (file) => sourceOf(file) ?? readFile(file);
  host.directoryExists = (folder) =>
    [...files.keys()].some((file) => dirname(file) === folder) || (directoryExists?.(folder) ?? false);
  host.getSourceFile = (file, options, ...otherArguments) => {
    const text = sourceOf(file);
    return text === undefined
      ? getSourceFile(file, options, ...otherArguments)
      : ts.createSourceFile(file, text, options);
  };
  const roots = [...files.keys(), fileOf("examples/whatsapp/zapo-js.d.ts")]; // packages that readers install themselves
  const program = ts.createProgram(roots, config.options, host);
  const faults = [...files.keys()].flatMap((file) => {
    const source = program.getSourceFile(file)!;
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map((fault) =>
      describeFault(files.get(file)!, source, fault),
    );
  });
  expect(faults).toEqual([]);
});

/** A fault, with its place in the page. */
function describeFault(
  blocks: readonly Block[],
  source: ts.SourceFile,
  { start = 0, messageText }: ts.Diagnostic,
): string {
  let line = source.getLineAndCharacterOfPosition(start).line - 1;
  const block = blocks.find(({ text }) => {
    const lines = text.split("\n").length;
    if (line < lines) return true;
    line -= lines;
    return false;
  });
  return `${join(block?.page ?? "?")}:${(block?.line ?? 0) + line}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
}
