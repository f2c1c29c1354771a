// `npm run test:tier -- NAME [arguments of its program…]`: installs a tier's additional packages, checks the types of
// the tests that use it, and runs the tier on Node 26.
import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { RuntimeName } from "./support/runtimes.ts";

/** A tier of the tests, or another program that needs more than the dependencies. */
interface Tier {
  /** Folders in `test` with their own packages; Node 26 is installed in addition. */
  readonly packages: readonly string[];
  /** Arguments of the runtime, followed by the user's. */
  readonly run: readonly string[];
  /** Runtime of the program. Default: Node 26. */
  readonly runtime?: RuntimeName;
}

const TEST_FOLDER = fileURLToPath(new URL(".", import.meta.url));
const ROOT = join(TEST_FOLDER, "..");
const BUN = "runtimes/bun";
const DENO = "runtimes/deno";
const NODE_22 = "runtimes/node22";
const POSTGRES = "runtimes/postgres";
const SHERPA = "runtimes/sherpa";

const vitest = (...projects: readonly string[]): readonly string[] => [
  "node_modules/vitest/vitest.mjs",
  "run",
  ...projects.flatMap((project) => ["--project", project]),
];
/** The tests of the library. Neither the source tree nor the HTTP contract depends on the runtime. */
const LIBRARY = [
  ...vitest("unit", "integration"),
  ...["--exclude", "test/structure/**", "--exclude", "test/http/contract/**"],
];

const TIERS: Readonly<Record<string, Tier>> = {
  runtime: { packages: [BUN, DENO, POSTGRES], run: vitest("integration", "runtime") },
  node22: { packages: [NODE_22, POSTGRES], run: LIBRARY, runtime: "node22" },
  // Bun's child processes cannot communicate with vitest.
  bun: { packages: [BUN, POSTGRES], run: ["--bun", ...LIBRARY, "--pool=threads"], runtime: "bun" },
  deno: { packages: [DENO, POSTGRES], run: ["run", "-A", ...LIBRARY], runtime: "deno" },
  postgres: { packages: [NODE_22, BUN, DENO, POSTGRES], run: vitest("runtime-postgres") },
  dist: { packages: [NODE_22, BUN, DENO, POSTGRES], run: vitest("runtime-dist-*") },
  console: { packages: ["console/browser", "peers", BUN, DENO], run: vitest("console") },
  peers: { packages: ["peers", NODE_22, BUN, DENO, POSTGRES], run: vitest("peers", "peers-sip") },
  pbx: { packages: [], run: vitest("pbx") },
  providers: { packages: [], run: [...vitest("providers"), "--reporter=verbose"] },
  voices: { packages: ["runtimes/sherpa"], run: ["test/voices/main.ts"] },
  package: { packages: ["package", NODE_22, BUN, DENO], run: vitest("package") },
  examples: { packages: [NODE_22, BUN, DENO], run: vitest("examples") },
  chaos: { packages: [POSTGRES], run: ["test/chaos/main.ts"] },
  hostile: { packages: [], run: ["--expose-gc", "test/hostile/main.ts"] },
  "demo-token": { packages: [POSTGRES], run: ["test/hostile/demo-token/main.ts"] },
  bench: { packages: [BUN, DENO, POSTGRES, SHERPA], run: ["test/bench/main.ts"] },
  soak: { packages: [BUN, DENO], run: ["test/soak/main.ts"] },
};

const [name = "", ...args] = process.argv.slice(2);
process.exitCode = await main(name, args);

async function main(name: string, args: readonly string[]): Promise<number> {
  const tier = Object.hasOwn(TIERS, name) ? TIERS[name] : undefined;
  if (tier === undefined) {
    console.error(`unknown tier "${name}"; tiers: ${Object.keys(TIERS).join(", ")}`);
    return 2;
  }
  const packages = process.version.startsWith("v26.") ? tier.packages : ["runtimes/node26", ...tier.packages];
  for (const folder of packages) {
    const status = install(join(TEST_FOLDER, folder));
    if (status !== 0) return status;
  }
  const { runtimes } = await import("./support/runtimes.ts");
  const programOf = (name: RuntimeName): string => {
    const { command, missing } = runtimes.find((runtime) => runtime.name === name)!;
    if (command[0] === undefined) throw new Error(missing);
    return command[0];
  };
  const typedFolders = packages
    .map((folder) => join("test", folder))
    .filter((folder) => existsSync(join(ROOT, folder, "tsconfig.json")));
  const status = typedFolders.length === 0 ? 0 : run(programOf("node26"), [".ci/typecheck.ts", ...typedFolders]);
  if (status !== 0) return status;
  return run(programOf(tier.runtime ?? "node26"), [...tier.run, ...args]);
}

/** Installs the packages of a folder, unless they are present and newer than their list. */
function install(folder: string): number {
  const installedAt = modifiedAt(join(folder, "node_modules/.package-lock.json"));
  if (installedAt >= modifiedAt(join(folder, "package-lock.json"))) return 0;
  const command = ["npm", "ci", "--prefix", relative(ROOT, folder)];
  console.log(`> ${command.join(" ")}`);
  return run(command[0]!, command.slice(1), process.platform === "win32");
}

function run(program: string, args: readonly string[], shell = false): number {
  return spawnSync(program, args, { cwd: ROOT, stdio: "inherit", shell }).status ?? 1;
}

/** Time of a file's last change, ms; 0 if it does not exist. */
function modifiedAt(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
