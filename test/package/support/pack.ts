import { mkdtempSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { buildFault } from "../../support/built.ts";
import { mustRun } from "./run.ts";
import { unpack } from "./unpack.ts";

/** The package as it would be published. */
export interface Packed {
  /** The file that `npm pack` created. */
  readonly tarball: string;
  /** Folder with the contents of the package. */
  readonly folder: string;
}

declare module "vitest" {
  interface ProvidedContext {
    packed: Packed;
  }
}

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** Packs the package once for all test files; builds it first if needed. */
export default async function pack({ provide }: TestProject): Promise<() => Promise<void>> {
  const parentFolder = mkdtempSync(join(tmpdir(), "ringport-packed-"));
  // Not through npm, so that a build that hangs is itself the process that is ended.
  if (buildFault() !== undefined)
    await mustRun([process.execPath, join(ROOT, "node_modules/tsup/dist/cli-default.js")], { cwd: ROOT });
  const [{ filename }] = JSON.parse(
    await mustRun(["npm", "pack", "--json", "--ignore-scripts", "--pack-destination", parentFolder], { cwd: ROOT }),
  );
  const tarball = join(parentFolder, filename);
  await unpack(readFileSync(tarball), parentFolder);
  provide("packed", { tarball, folder: join(parentFolder, "package") });
  return () => rm(parentFolder, { recursive: true, force: true }); // otherwise vitest ends its workers
}
