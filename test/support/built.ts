import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const BUILT = ["dist/cli.js", "dist/worker.js", "dist/assets/swagger-ui.css"];

/** Global setup: fails unless what was built is there and as new as its sources. */
export default function built(): void {
  const missing = BUILT.find((file) => statSync(join(ROOT, file), { throwIfNoEntry: false }) === undefined);
  if (missing) throw new Error(`${missing} is not there: run \`npm run build\` first`);
  const builtAt = Math.min(...BUILT.slice(0, 2).map((file) => statSync(join(ROOT, file)).mtimeMs));
  const newer = ["src", "adapters"].flatMap(filesBelow).find((file) => statSync(file).mtimeMs > builtAt);
  if (newer) throw new Error(`${newer.slice(ROOT.length)} is newer than dist/: run \`npm run build\` again`);
}

function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
