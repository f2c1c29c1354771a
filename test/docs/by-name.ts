// Loaded with --import: programs import the package by its name, and that name is the source.
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";

const root = new URL("../../", import.meta.url);
const { compilerOptions } = JSON.parse(readFileSync(new URL("tsconfig.json", root), "utf8")) as {
  compilerOptions: { paths: Record<string, [string]> };
};

registerHooks({
  resolve(specifier, context, next) {
    const [file] = compilerOptions.paths[specifier] ?? [];
    return file === undefined ? next(specifier, context) : next(new URL(file, root).href, context);
  },
});
