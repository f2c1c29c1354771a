import { createRequire } from "node:module";
import { join } from "node:path";
import { cwd, execPath } from "node:process";

/** The default data folder; a test compares it with the one in `defaults`. */
const DATA_FOLDER = "./data";
/** Packages of the engine: the faster one first, then the one that runs on every platform. */
const PACKAGES = ["sherpa-onnx-node", "sherpa-onnx"] as const;

/** True in a clone of the repository; false for an installed package. */
const IS_CLONE = !import.meta.url.includes("/node_modules/");

/**
 * The command that installs the engine. In a clone, npm would install nothing, because its package.json names the
 * engine as an optional peer dependency; so the command installs into the data folder, which git ignores.
 */
export const ENGINE_COMMAND = `npm install ${IS_CLONE ? `--prefix ${DATA_FOLDER} ` : ""}sherpa-onnx-node (or sherpa-onnx, which is slower and runs everywhere)`;

/** Instructions for a server without the engine. */
export const ENGINE_REMEDY = `run: ${ENGINE_COMMAND}`;

/** An installed package of the engine. */
export interface EnginePackage {
  readonly name: (typeof PACKAGES)[number];
  /** The file to load. */
  readonly path: string;
}

/**
 * The installed packages of the engine, fastest first. Looks for them next to Ringport, in a folder, and in the default
 * data folder under it. Loads nothing: only a speech process may, because a fault in native code ends the process.
 * @param folder default: the folder in which the program was started
 */
export function enginePackages(folder: string = cwd()): readonly EnginePackage[] {
  const bases = [folder, join(folder, DATA_FOLDER)].map((base) => join(base, "package.json"));
  return PACKAGES.flatMap((name) => {
    for (const base of [...bases, import.meta.url]) {
      try {
        return [{ name, path: createRequire(base).resolve(name) }];
      } catch {
        // Not installed there.
      }
    }
    return [];
  });
}

/** A fault that keeps all models on this machine from working. */
export interface EngineObstacle {
  /** Completes the sentence "the engine …". */
  readonly reason: string;
  /** Fix for the fault, as the end of the sentence "to fix it, …". */
  readonly fix: string;
}

/** Deno's option that allows starting speech processes, and no other program. */
const DENO_OPTION = "--allow-run=deno";

/** The obstacle if Deno may not start speech processes. */
export const DENO_OBSTACLE: EngineObstacle = {
  reason: `cannot be started: Deno needs ${DENO_OPTION}`,
  fix: `start Deno with ${DENO_OPTION}, or -A`,
};

/** The first fault that keeps models from working; undefined if a speech process can be started. */
export function engineObstacle(packages: readonly EnginePackage[] = enginePackages()): EngineObstacle | undefined {
  if (packages.length === 0) return { reason: "is not installed", fix: ENGINE_REMEDY };
  return mayStartProcesses() ? undefined : DENO_OBSTACLE;
}

interface DenoPermissions {
  readonly permissions: {
    querySync(permission: { name: "run"; command: string }): { readonly state: string };
  };
}

/** True if this program may start processes of its runtime, which requires a permission on Deno. */
export function mayStartProcesses(): boolean {
  const { Deno } = globalThis as { Deno?: DenoPermissions };
  return Deno === undefined || Deno.permissions.querySync({ name: "run", command: execPath }).state === "granted";
}
