import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const BUILT_FILES = ["dist/cli.js", "dist/worker.js", "dist/assets/swagger-ui.css"];
/** Last output of the build. */
const LAST_OUTPUT = "dist/third-party-notices.txt";
/** In a source folder, but generated from the sources: `npm ci` and `npm pack` regenerate it. */
const GENERATED = join("adapters", "console", "assets");
const SOURCES = ["src", "adapters", "tsup.config.ts", "package.json", "package-lock.json"];

/** Global setup: fails unless the build exists and is as new as its sources. */
export default function assertBuilt(): void {
  const fault = buildFault();
  if (fault !== undefined) throw new Error(fault);
}

/** The reason why `dist` is unusable; undefined if it is complete and as new as its sources. */
export function buildFault(): string | undefined {
  const missingFile = [...BUILT_FILES, LAST_OUTPUT].find((file) => modifiedMs(file) === undefined);
  if (missingFile) return `${missingFile} is not there: run \`npm run build\` first`;
  const builtAt = Math.min(...BUILT_FILES.slice(0, 2).map((file) => modifiedMs(file) ?? 0));
  const newerFile = SOURCES.flatMap(filesOf).find((file) => (modifiedMs(file) ?? 0) > builtAt);
  return newerFile && `${newerFile} is newer than dist/: run \`npm run build\` again`;
}

function modifiedMs(file: string): number | undefined {
  return statSync(join(ROOT, file), { throwIfNoEntry: false })?.mtimeMs;
}

/** The file itself, or all files of a folder, as paths from the root of the repository. */
function filesOf(name: string): string[] {
  if (statSync(join(ROOT, name)).isFile()) return [name];
  return readdirSync(join(ROOT, name), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length))
    .filter((file) => !file.startsWith(GENERATED));
}
