import { importsOf } from "./imports.ts";
import type { SourceFile } from "./source-files.ts";

/** Groups of files that import each other, the largest first; `import type` counts. */
export function importCycles(files: readonly SourceFile[]): readonly (readonly string[])[] {
  const imports = new Map(files.map((file) => [file.path, importsOf(file).map(({ target }) => target)]));
  const order = new Map<string, number>();
  const stack: string[] = [];
  const open = new Set<string>();
  const cycles: string[][] = [];
  // Tarjan's strongly connected components.
  const visit = (path: string): number => {
    let lowLink = order.size;
    order.set(path, lowLink);
    stack.push(path);
    open.add(path);
    const index = lowLink;
    for (const target of imports.get(path) ?? []) {
      if (!imports.has(target)) continue;
      if (!order.has(target)) lowLink = Math.min(lowLink, visit(target));
      else if (open.has(target)) lowLink = Math.min(lowLink, order.get(target) ?? lowLink);
    }
    if (lowLink === index) {
      const cycle = stack.splice(stack.lastIndexOf(path));
      for (const member of cycle) open.delete(member);
      if (cycle.length > 1) cycles.push(cycle.sort());
    }
    return lowLink;
  };
  for (const path of imports.keys()) if (!order.has(path)) visit(path);
  return cycles.sort((a, b) => b.length - a.length);
}
