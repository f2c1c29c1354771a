// `node .ci/typecheck.ts [FOLDER…]`: checks the types of each folder with a tsconfig.json; by default of all folders whose packages are
// installed. The state below .cache makes the next check several times as fast.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";

const TSC = fileURLToPath(new URL("../node_modules/typescript/bin/tsc", import.meta.url));
const FOLDERS = [".", "adapters/console/pages", "test/console/pages"];
/** Folders with packages of their own, which their tiers install. */
const TIERS = ["test/console/browser", "test/package", "test/peers"];

async function check(folder: string): Promise<boolean> {
  const state = `.cache/types/${folder.replaceAll("/", "-")}.tsbuildinfo`;
  const args = [TSC, "-p", folder, "--incremental", "--tsBuildInfoFile", state];
  const [code] = await once(spawn(process.execPath, args, { stdio: "inherit" }), "close");
  return code === 0;
}

/** True if the packages of a folder are installed. */
function isInstalled(folder: string): boolean {
  return existsSync(`${folder}/node_modules`);
}

const folders = process.argv.length > 2 ? process.argv.slice(2) : [...FOLDERS, ...TIERS.filter(isInstalled)];
const passed = await Promise.all(folders.map(check));
process.exitCode = passed.includes(false) ? 1 : 0;
