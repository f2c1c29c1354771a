import { describe, expect, test } from "vitest";
import { importsOf } from "./imports.ts";
import { type SourceFile, sourceFiles } from "./source-files.ts";

/**
 * The file that loads the engine of speech models. The engine's native code ends its process when it cannot read a
 * model.
 */
const ENGINE = "adapters/local-models/host-engine.ts";
/** The program of a speech process. */
const HOST = "adapters/local-models/speech-host.ts";

/** Files that load code by a computed name, with what they load. */
const PERMITTED: ReadonlyMap<string, string> = new Map([
  [ENGINE, "the engine of speech models, in a speech process"],
  ["adapters/cli/doctor/network-findings.ts", "the client of a network, in ringport doctor"],
]);

const files = sourceFiles();

describe("native add-ons", () => {
  test("are imported by no file", () => {
    expect(files.flatMap(addonImportsOf)).toEqual([]);
  });

  test("are loaded only by a speech process's program", () => {
    const loaders = files.filter(loadsComputedNames).map(({ path }) => path);
    expect(loaders.sort()).toEqual([...PERMITTED.keys()].sort());
  });

  test("are out of the server's reach, because it never imports a speech process's program", () => {
    expect([...importersOf(ENGINE, files)].sort()).toEqual([HOST, "adapters/local-models/host-streams.ts"].sort());
  });
});

describe("the rule", () => {
  const file = (text: string, path = "adapters/x.ts"): SourceFile => ({ path, text });

  test.each([
    'import sherpa from "sherpa-onnx-node";',
    'const { OfflineTts } = await import("sherpa-onnx");',
    'export * from "onnxruntime-node";',
    'import addon from "./build/addon.node";',
  ])("finds the import %s", (text) => {
    expect(addonImportsOf(file(text))).toHaveLength(1);
  });

  test.each([
    "createRequire(import.meta.url)(path);",
    'const require = createRequire(join(folder, "package.json"));',
    "process.dlopen(module, path);",
    "const engine = await import(path);",
    'const engine = await import(name + "-node");',
  ])("finds the loader %s", (text) => {
    expect(loadsComputedNames(file(text))).toBe(true);
  });

  test.each([
    'import { createRequire } from "node:module";',
    "const path = createRequire(import.meta.url).resolve(name);",
    'const path = createRequire(join(base, "package.json")).resolve(name);',
    'const { run } = await import("./run.ts");',
    'type Server = import("node:http").Server;',
  ])("permits %s", (text) => {
    expect(loadsComputedNames(file(text))).toBe(false);
  });

  test("follows imports of imports, and passes over types", () => {
    const tree = [
      file("export const engine = 1;", "adapters/a.ts"),
      file('import { engine } from "./a.ts";\nexport const b = engine;', "adapters/b.ts"),
      file('const { b } = await import("./b.ts");', "adapters/c.ts"),
      file('import type { engine } from "./a.ts";', "adapters/d.ts"),
    ];
    expect([...importersOf("adapters/a.ts", tree)]).toEqual(["adapters/b.ts", "adapters/c.ts"]);
  });
});

/** Native add-ons, and packages with one, that a file imports; importing types does no harm. */
function addonImportsOf(file: SourceFile): string[] {
  return importsOf(file)
    .filter(({ target, isTypeOnly }) => !isTypeOnly && /^(?:sherpa-onnx|onnxruntime)|\.node$/.test(target))
    .map(({ target }) => `${file.path} imports "${target}": only ${ENGINE} loads native code, in a speech process`);
}

/** True if a file loads modules whose names are not written in it. */
function loadsComputedNames({ text }: SourceFile): boolean {
  return (
    /\bcreateRequire\((?:[^()]|\([^()]*\))*\)(?!\.resolve\()/.test(text) ||
    /\bdlopen\(/.test(text) ||
    /\bimport\(\s*(?!["'\s])/.test(text)
  );
}

/** Files that load a file, directly or through other files. */
function importersOf(path: string, allFiles: readonly SourceFile[]): ReadonlySet<string> {
  const importers = new Set<string>();
  const queue = [path];
  for (let target = queue.pop(); target !== undefined; target = queue.pop())
    for (const file of allFiles)
      if (
        !importers.has(file.path) &&
        importsOf(file).some((imported) => !imported.isTypeOnly && imported.target === target)
      ) {
        importers.add(file.path);
        queue.push(file.path);
      }
  return importers;
}
