import { cp, mkdir, writeFile } from "node:fs/promises";
import { defineConfig, type Options } from "tsup";
import { buildConsole } from "./.ci/console.ts";
import { builtName, ENTRIES } from "./.ci/entries.ts";
import { thirdPartyNotices } from "./.ci/third-party.ts";

const published = Object.fromEntries(
  Object.entries(ENTRIES).map(([specifier, source]) => [builtName(specifier), source]),
);

/** Packages whose code lies in dist: what the documentation page is made of, and whatever the bundler took in. */
const bundledPackages = new Set(["swagger-ui-dist"]);

const collectBundledPackages: NonNullable<Options["esbuildPlugins"]>[number] = {
  name: "note what is taken in",
  setup(build) {
    build.initialOptions.metafile = true;
    build.onEnd(({ metafile }) => {
      for (const input of Object.keys(metafile?.inputs ?? {})) {
        const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1];
        if (name !== undefined) bundledPackages.add(name);
      }
    });
  },
};

export default defineConfig({
  entry: {
    ...published,
    cli: "adapters/cli/main.ts",
    // Entries of their own: a worker thread or process is started by file name, which no bundler follows.
    worker: "adapters/defaults/worker.ts",
    "speech-host": "adapters/local-models/speech-host.ts",
    "sip-media-worker": "adapters/sip-stack/media/worker/sip-media-worker.ts",
  },
  dts: { entry: published },
  format: ["esm"],
  target: "es2023",
  clean: true,
  // The code is published as it is built: readable, with its names. Maps with the source in them would double its size.
  sourcemap: false,
  // tsup's default rewrites "node:sqlite" to "sqlite", which does not exist.
  removeNodeProtocol: false,
  external: [/^bun:/, "bun"],
  esbuildPlugins: [collectBundledPackages],
  async onSuccess() {
    await mkdir("dist/assets", { recursive: true });
    for (const file of ["swagger-ui-bundle.js", "swagger-ui-bundle.js.LICENSE.txt", "swagger-ui.css"])
      await cp(`node_modules/swagger-ui-dist/${file}`, `dist/assets/${file}`);
    await cp("examples/hello.mp3", "dist/assets/hello.mp3"); // the message of `ringport demo`
    for (const name of (await buildConsole("dist/console")).packages) bundledPackages.add(name);
    await writeFile("dist/third-party-notices.txt", thirdPartyNotices(".", [...bundledPackages].sort()));
  },
});
