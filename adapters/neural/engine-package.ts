import { createRequire } from "node:module";
import { join } from "node:path";
import { cwd } from "node:process";

/** Packages of the engine, the faster one first; the second runs on every platform. */
const PACKAGES = ["sherpa-onnx-node", "sherpa-onnx"] as const;

/** The command that installs the engine. */
export const ENGINE_COMMAND = "npm install sherpa-onnx-node (or sherpa-onnx, which is slower and runs everywhere)";

/** Advice for a server without the engine. */
export const ENGINE_REMEDY = `run: ${ENGINE_COMMAND}`;

/** An installed package of the engine. */
export interface EnginePackage {
  readonly name: (typeof PACKAGES)[number];
  /** The file to load. */
  readonly path: string;
}

/**
 * The installed packages of the engine, the fastest first. Finds them beside Ringport, and in the folder in which the program was
 * started. Loads nothing: only a speech process may, because a fault in native code ends its process.
 * @param folder another folder to look in
 */
export function enginePackages(folder?: string): readonly EnginePackage[] {
  const bases = [...(folder === undefined ? [] : [folder]), cwd()].map((base) => join(base, "package.json"));
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
