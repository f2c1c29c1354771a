import { cp, mkdir } from "node:fs/promises";
import { defineConfig } from "tsup";

const published = {
  index: "src/index.ts",
  client: "src/client/index.ts",
  testing: "src/testing/index.ts",
  node: "adapters/server/node.ts",
  bun: "adapters/server/bun.ts",
  deno: "adapters/server/deno.ts",
  sqlite: "adapters/storage/sqlite.ts",
  postgres: "adapters/storage/postgres.ts",
};

export default defineConfig({
  entry: {
    ...published,
    cli: "adapters/cli/main.ts",
    // An entry of its own: a worker thread is started by file name, which no bundler follows.
    worker: "adapters/workers/worker.ts",
  },
  dts: { entry: published },
  format: ["esm"],
  target: "es2023",
  clean: true,
  sourcemap: true,
  // tsup's default rewrites "node:sqlite" to "sqlite", which does not exist.
  removeNodeProtocol: false,
  external: [/^bun:/, "bun"],
  async onSuccess() {
    await mkdir("dist/assets", { recursive: true });
    for (const file of ["swagger-ui-bundle.js", "swagger-ui.css"])
      await cp(`node_modules/swagger-ui-dist/${file}`, `dist/assets/${file}`);
  },
});
