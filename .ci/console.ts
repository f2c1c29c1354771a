import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { type BuildOptions, type BuildResult, build, type Metafile, type Plugin } from "esbuild";

/** Maximum compressed size of the files that a first page loads, in bytes. */
export const FIRST_VIEW_BYTES = 120_000;

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const PAGES = "adapters/console/app";
const ENTRY = `${PAGES}/main.tsx`;
/** Folder in which a server that runs from the sources looks for the pages. */
const ASSETS = join(ROOT, "adapters/console/assets");

/** Bundler options for all console code; it runs in browsers from 2023 or later. */
const OPTIONS = {
  absWorkingDir: ROOT,
  bundle: true,
  format: "esm",
  minify: true,
  target: ["chrome111", "firefox115", "safari16.4"],
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  metafile: true,
  write: false,
  logLevel: "warning",
} satisfies BuildOptions;

/** Result of a build. */
export interface BuiltConsole {
  /** Names of the packages bundled into the files. */
  readonly packages: readonly string[];
  /** Gzip-compressed bytes of each first page, by its source file; gzip is the largest encoding served. */
  readonly firstPages: Readonly<Record<string, number>>;
}

/**
 * Bundles the console into a folder: `index.html`, and files with hashed names, each also compressed as `.br` and
 * `.gz`. The folder is emptied first.
 * @param limit maximum compressed bytes of a first page
 * @throws {Error} a first page is larger
 */
export async function buildConsole(folder: string, limit: number = FIRST_VIEW_BYTES): Promise<BuiltConsole> {
  const worklets: BuildResult<{ write: false; metafile: true }>[] = [];
  const result = await build({
    ...OPTIONS,
    entryPoints: [ENTRY],
    splitting: true,
    outdir: folder,
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    assetNames: "[name]-[hash]",
    plugins: [workletUrls(folder, worklets)],
  });
  const results = [result, ...worklets];
  const files = new Map(
    results.flatMap(({ outputFiles }) => outputFiles.map(({ path, contents }) => [basename(path), contents])),
  );
  const outputs = Object.assign({}, ...results.map(({ metafile }) => metafile.outputs)) as Metafile["outputs"];
  files.set("index.html", Buffer.from(await indexPage(outputs)));

  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const sizes = new Map<string, number>();
  await Promise.all(
    [...files].map(async ([name, contents]) => {
      const compressedSizes = await Promise.all([smallestSize(contents), promisify(gzip)(contents, { level: 9 })]);
      sizes.set(name, compressedSizes[1].byteLength);
      const variants = { "": contents, ".br": compressedSizes[0], ".gz": compressedSizes[1] };
      for (const [suffix, bytes] of Object.entries(variants)) await writeFile(join(folder, name + suffix), bytes);
    }),
  );

  const firstPages = firstPagesOf(outputs, (name) => sizes.get(name) ?? 0);
  for (const [page, bytes] of Object.entries(firstPages))
    if (bytes > limit)
      throw new Error(`a browser loads ${bytes} bytes for ${page}, more than ${limit}: import large modules on demand`);
  return { packages: packagesOf(results.map(({ metafile }) => metafile)), firstPages };
}

/** `import url from "./phone-worklet.ts?worklet"` is the address of that module, bundled as a separate file. */
function workletUrls(folder: string, results: BuildResult<{ write: false; metafile: true }>[]): Plugin {
  return {
    name: "worklet urls",
    setup(setup) {
      setup.onResolve({ filter: /\?worklet$/ }, ({ path, resolveDir }) => ({
        path: join(resolveDir, path.replace(/\?worklet$/, "")),
        namespace: "worklet",
      }));
      setup.onLoad({ filter: /.*/, namespace: "worklet" }, async ({ path }) => {
        const result = await build({ ...OPTIONS, entryPoints: [path], outdir: folder, entryNames: "[name]-[hash]" });
        results.push(result);
        const name = basename(result.outputFiles[0]?.path ?? "");
        const watchFiles = Object.keys(result.metafile.inputs).map((input) => join(ROOT, input));
        return { contents: `export default new URL("./${name}", import.meta.url).href`, watchFiles };
      });
    },
  };
}

/** The page that loads the others. It has no inline script or style, for a strict Content-Security-Policy. */
async function indexPage(outputs: Metafile["outputs"]): Promise<string> {
  const [script, output] = entryOf(outputs);
  const preloads = staticImports(outputs, script)
    .filter((path) => path !== script)
    .map((path) => `<link rel="modulepreload" href="/console/assets/${basename(path)}">`);
  const template = await readFile(join(ROOT, PAGES, "index.html"), "utf8");
  return template
    .replace("main.js", basename(script))
    .replace("main.css", basename(output.cssBundle ?? ""))
    .replace("<!-- preloads -->", preloads.join("\n"));
}

function entryOf(outputs: Metafile["outputs"]): [string, Metafile["outputs"][string]] {
  const entry = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === ENTRY);
  if (entry === undefined) throw new Error(`${ENTRY} was not built`);
  return entry;
}

/** A file and all files that it loads. */
function staticImports(outputs: Metafile["outputs"], from: string, visitedPaths = new Set<string>()): string[] {
  if (visitedPaths.has(from)) return [];
  visitedPaths.add(from);
  for (const { path, kind } of outputs[from]?.imports ?? [])
    if (kind === "import-statement") staticImports(outputs, path, visitedPaths);
  return [...visitedPaths];
}

/** Compressed size of each page that a browser opens first. */
function firstPagesOf(outputs: Metafile["outputs"], sizeOf: (name: string) => number): Record<string, number> {
  const [script, { cssBundle }] = entryOf(outputs);
  const shell = ["index.html", basename(cssBundle ?? ""), ...staticImports(outputs, script)];
  const pages = Object.entries(outputs).filter(([, { entryPoint }]) => entryPoint?.startsWith(`${PAGES}/pages/`));
  return Object.fromEntries(
    [[script, outputs[script]!] as const, ...pages].map(([path, { entryPoint }]) => {
      const loadedNames = new Set([...shell, ...staticImports(outputs, path)].map((output) => basename(output)));
      return [basename(entryPoint ?? path), [...loadedNames].reduce((bytes, name) => bytes + sizeOf(name), 0)];
    }),
  );
}

function packagesOf(metafiles: readonly Metafile[]): string[] {
  const names = metafiles
    .flatMap(({ inputs }) => Object.keys(inputs))
    .map((input) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1]);
  return [...new Set(names.filter((name) => name !== undefined))].sort();
}

function smallestSize(contents: Uint8Array): Promise<Buffer> {
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: contents.byteLength };
  return promisify(brotliCompress)(contents, { params });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildConsole(ASSETS);
