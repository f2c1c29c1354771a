import { posix } from "node:path";
import ts from "typescript";
import { LAYERS, type Layer } from "./layers.ts";
import type { SourceFile } from "./source-files.ts";

/** One import, export-from or `import()` of a file. */
export interface Import {
  /** The specifier as written. */
  readonly specifier: string;
  /** The path from the root for a file of the repository; the specifier for everything else. */
  readonly target: string;
  readonly isTypeOnly: boolean;
  /** True for an `import()`: the file is loaded on demand. */
  readonly dynamic: boolean;
}

const importsByFile = new WeakMap<SourceFile, readonly Import[]>();

/** All imports of a file, `import()` and `import("…").Type` included. */
export function importsOf(file: SourceFile): readonly Import[] {
  const imports = importsByFile.get(file) ?? parse(file);
  importsByFile.set(file, imports);
  return imports;
}

/** The end of a static import or export. */
const STATIC = /\b(?:from|import)\s*(?:"[^"\n]*"|'[^'\n]*')\s*;?/g;
/** An import that may be anywhere in a file. */
const NESTED_IMPORT = /\bimport\s*[(/]/;

/** The part of a file that has all its imports: parsing the whole text of every file would take seconds. */
function importingPart(text: string): string {
  if (NESTED_IMPORT.test(text)) return text;
  const last = [...text.matchAll(STATIC)].at(-1);
  return last === undefined ? "" : text.slice(0, last.index + last[0].length);
}

function parse({ path, text }: SourceFile): readonly Import[] {
  const imports: Import[] = [];
  const add = (specifier: ts.Node | undefined, isTypeOnly: boolean, dynamic = false) => {
    if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return;
    const name = specifier.text;
    const target = name.startsWith(".") ? posix.join(posix.dirname(path), name) : name;
    imports.push({ specifier: name, target, isTypeOnly, dynamic });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node))
      add(node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword);
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly);
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0], false, true);
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, true);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, importingPart(text), ts.ScriptTarget.ESNext));
  return imports;
}

/** One sentence for each import that the table forbids: file, import, rule. */
export function violationsOf(file: SourceFile): readonly string[] {
  const layer = layerOf(file.path);
  if (layer === undefined) return [`${file.path} belongs to no layer of test/structure/layers.ts: add a row for it`];
  return importsOf(file)
    .filter((imported) => permissionFor(layer, imported) === undefined)
    .map(({ specifier, target }) => {
      const isTypeImport = layer.types?.some((entry) => covers(entry, target));
      return `${file.path} imports "${specifier}"${isTypeImport ? " as a value" : ""}: ${layer.rule}`;
    });
}

/** The row that applies to a file: the one with the longest match. */
export function layerOf(path: string): Layer | undefined {
  return LAYERS.filter(({ files }) => path.startsWith(files)).sort((a, b) => b.files.length - a.files.length)[0];
}

/** The entry of the row that permits an import; the row's own files permit themselves. */
export function permissionFor(layer: Layer, { target, isTypeOnly }: Import): string | undefined {
  const entries = [layer.files, ...layer.allowed, ...(isTypeOnly ? (layer.types ?? []) : [])];
  return entries.find((entry) => covers(entry, target));
}

function covers(entry: string, target: string): boolean {
  return target === entry || target.startsWith(/[/:]$/.test(entry) ? entry : `${entry}/`);
}
