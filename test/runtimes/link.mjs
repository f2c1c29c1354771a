// Links the installed runtimes: each into its folder's node_modules/.program, where tests find it, and, except
// Node 22, into the root's node_modules/.bin, where the scripts of npm find it. Every installation here and in the root runs it.
// In the root it also installs Node 26 if the Node that runs npm is too old for the sources. Plain JavaScript for that reason.
import { spawnSync } from "node:child_process";
import { existsSync, linkSync, mkdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = join(HERE, "../..");
const WINDOWS = process.platform === "win32";
const EXE = WINDOWS ? ".exe" : "";
const TARGET = `${WINDOWS ? "win" : process.platform}-${process.arch}`;
const BUN_TARGET = TARGET.replace("win-", "windows-").replace("arm64", "aarch64");

/** Where npm puts each program, the likeliest place first. */
const PLACES = {
  node22: [`node22-${TARGET}/bin/node${EXE}`],
  node26: [`node-${TARGET}/bin/node${EXE}`, `node-bin-${TARGET}/bin/node${EXE}`],
  // Bun's install script moves the program out of its platform package; without the script it stays in that package.
  bun: [`@oven/bun-${BUN_TARGET}/bin/bun${EXE}`, "bun/bin/bun.exe"],
  deno: [`deno/deno${EXE}`],
};

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const isTooOld = major < 22 || (major === 22 && minor < 18);

// By the path: `npm ci --prefix` keeps the folder in which it was typed as INIT_CWD, and runs this script in the folder that it installs.
if (isTooOld && process.cwd() === join(ROOT) && find("node26") === undefined) {
  const { status } = spawnSync("npm", ["ci", "--prefix", join(HERE, "node26")], { stdio: "inherit", shell: WINDOWS });
  if (status !== 0) process.exit(status ?? 1);
}

for (const name of Object.keys(PLACES)) {
  const program = find(name);
  if (program === undefined) continue;
  link(program, join(HERE, name, "node_modules/.program"));
  if (name === "bun" || name === "deno" || (name === "node26" && isTooOld))
    link(program, join(ROOT, "node_modules/.bin"));
}

function find(name) {
  return PLACES[name].map((path) => join(HERE, name, "node_modules", path)).find((path) => existsSync(path));
}

/** A hard link, which needs no rights on Windows either. */
function link(program, folder) {
  mkdirSync(folder, { recursive: true });
  const place = join(folder, basename(program).replace(/^bun\.exe$/, `bun${EXE}`));
  rmSync(place, { force: true });
  linkSync(program, place);
}
