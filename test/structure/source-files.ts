import { globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");

/** A source file: its path from the root of the repository, with "/", and its text. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** Every TypeScript file of src and adapters. */
export function sourceFiles(): readonly SourceFile[] {
  return ["src", "adapters"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .map((name) => `${folder}/${name.replaceAll("\\", "/")}`)
      .filter((path) => /\.tsx?$/.test(path) && !path.startsWith("adapters/console/assets/"))
      .sort()
      .map((path) => ({ path, text: readText(path) })),
  );
}

/** The path of every TypeScript file of test/, from the root of the repository, with "/". */
export function testPaths(): readonly string[] {
  return globSync("test/**/*.ts", { cwd: ROOT, exclude: (path) => path.endsWith("node_modules") }).map((path) =>
    path.replaceAll("\\", "/"),
  );
}

/** The path of every page of docs/, and of the English pages at the top, from the root of the repository, with "/". */
export function docPaths(): readonly string[] {
  return globSync(["docs/**/*.md", "*.md"], { cwd: ROOT })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => !/^(?:CHANGELOG|README\..+)\.md$/.test(path));
}

/** The text of a file of the repository. */
export function readText(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}
