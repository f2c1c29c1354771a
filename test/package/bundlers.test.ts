import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, inject, test } from "vitest";
import { Consumer } from "./support/consumer.ts";
import { expectHeardCall } from "./support/heard-call.ts";
import { mustRun } from "./support/run.ts";

const PACKAGES = ["esbuild@0.28.2", "vite@8.3.8", "webpack@5.112.2", "webpack-cli@7.3.1"];
const GUIDE = readFileSync(fileURLToPath(new URL("../../docs/embedding.md", import.meta.url)), "utf8");

/** The block of the guide that contains this text. */
function blockWith(text: string): string {
  const blocks = [...GUIDE.matchAll(/^```\w+\n(.*?)^```$/gms)].map(([, block]) => block!);
  const match = blocks.find((block) => block.includes(text));
  if (match === undefined) throw new Error(`docs/embedding.md has no block with "${text}"`);
  return match;
}

const BUNDLERS = [
  { name: "esbuild", command: blockWith("npx esbuild").trim(), bundle: "dist/app.js" },
  { name: "Vite", command: "npx vite build --ssr app.ts", bundle: "dist/app.js" },
  { name: "webpack", command: "npx webpack --mode=production --entry=./app.js", bundle: "dist/main.mjs" },
];

describe("a program that was bundled as docs/embedding.md describes", () => {
  const consumer = new Consumer("npm");
  beforeAll(async () => {
    await consumer.install(inject("packed"));
    for (const name of PACKAGES) await consumer.add(name);
    for (const app of ["app.ts", "app.js"])
      copyFileSync(join(consumer.folder, "place-call.ts"), join(consumer.folder, app));
    consumer.write("webpack.config.js", blockWith("output: { module: true }"));
  });

  test.each(BUNDLERS)("by $name places a call that is audible to the end", async ({ command, bundle }) => {
    await mustRun(command.split(" "), { cwd: consumer.folder });
    await expectHeardCall(consumer, "node26", bundle);
  });
});
