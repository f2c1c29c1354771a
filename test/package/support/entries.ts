import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/** One entry of the package, by its types. */
export interface Entry {
  /** Import specifier: `ringport/client`. */
  readonly specifier: string;
  /** Exports of the entry with their kinds, sorted: `createClient: function`. */
  readonly exports: readonly string[];
  /** Names that exist at run time, sorted. */
  readonly values: readonly string[];
}

/** Every entry of an unpacked package that is code. */
export function entriesOf(folder: string): Entry[] {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const types = new Map<string, string>();
  for (const [key, target] of Object.entries<{ types?: string }>(manifest.exports))
    if (target.types !== undefined) types.set(manifest.name + key.slice(1), join(folder, target.types));
  const options = { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, types: [] };
  const program = ts.createProgram([...types.values()], options);
  const checker = program.getTypeChecker();
  return [...types].map(([specifier, file]) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(file)!)!;
    const symbols = checker.getExportsOfModule(module).map((symbol) => {
      const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
      return { name: symbol.name, kind: kindOf(target) };
    });
    symbols.sort((a, b) => (a.name < b.name ? -1 : 1));
    return {
      specifier,
      exports: symbols.map(({ name, kind }) => `${name}: ${kind}`),
      values: symbols.filter(({ kind }) => kind !== "type").map(({ name }) => name),
    };
  });
}

function kindOf({ flags }: ts.Symbol): "class" | "function" | "const" | "type" {
  if (flags & ts.SymbolFlags.Class) return "class";
  if (flags & ts.SymbolFlags.Function) return "function";
  return flags & ts.SymbolFlags.Variable ? "const" : "type";
}
