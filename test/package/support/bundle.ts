import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build, type Metafile } from "esbuild";

const MODULES = fileURLToPath(new URL("../../../node_modules/", import.meta.url));

/** A bundled file of the package. */
export interface Bundle {
  /** Size of the code loaded with the file itself; the rest is loaded later, by import(). */
  readonly gzippedBytes: number;
  /** Static and dynamic imports of the bundle. */
  readonly imports: Metafile["outputs"][string]["imports"];
}

/** Bundles and minifies a file of the unpacked package as an application for browsers would, with or without packages. */
export async function bundle(folder: string, file: string, packages: "bundle" | "external"): Promise<Bundle> {
  const { peerDependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const { outputFiles, metafile } = await build({
    entryPoints: { entry: join(folder, file) },
    outdir: join(folder, "bundle"),
    bundle: true,
    minify: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    nodePaths: [MODULES],
    metafile: true,
    write: false,
    logLevel: "silent",
    packages,
    external: ["node:*", ...Object.keys(peerDependencies)],
  });
  const requiredFiles = new Set<string>();
  const visit = (path: string): void => {
    if (requiredFiles.has(path)) return;
    requiredFiles.add(path);
    for (const { path: importedPath, kind, external } of metafile.outputs[path]?.imports ?? [])
      if (!external && kind !== "dynamic-import") visit(importedPath);
  };
  const entry = Object.keys(metafile.outputs).find((path) => path.endsWith("bundle/entry.js"));
  if (entry === undefined) throw new Error(`the bundle of ${file} has no entry`);
  visit(entry);
  const files = outputFiles.filter(({ path }) =>
    [...requiredFiles].some((part) => path.endsWith(part.replace(/^(\.\.\/)+/, ""))),
  );
  return {
    gzippedBytes: files.reduce((bytes, { contents }) => bytes + gzipSync(contents).length, 0),
    imports: [...requiredFiles].flatMap((path) => metafile.outputs[path]?.imports ?? []),
  };
}
