import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { type BuiltConsole, buildConsole, FIRST_VIEW_BYTES } from "../../.ci/console.ts";
import { sourceFiles } from "../structure/source-files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = join(temporaryFolder("console"), "assets");
const read = (name: string): string => readFileSync(join(folder, name), "utf8");

let build: BuiltConsole;
let names: string[];
beforeAll(async () => {
  build = await buildConsole(folder);
  names = readdirSync(folder).filter((name) => !/\.(?:br|gz)$/.test(name));
}, 20_000);

describe("the built pages", () => {
  test("load no more than 120 KB for any first page", () => {
    expect(Object.keys(build.firstPages)).toEqual(expect.arrayContaining(["main.tsx", "overview.tsx", "sign-in.tsx"]));
    for (const [page, bytes] of Object.entries(build.firstPages)) {
      expect(bytes, page).toBeGreaterThan(10_000);
      expect(bytes, page).toBeLessThanOrEqual(FIRST_VIEW_BYTES);
    }
  });

  test("are not built if a first page is too large", async () => {
    await expect(buildConsole(join(temporaryFolder("console"), "assets"), 20_000)).rejects.toThrow(
      /a browser loads \d+ bytes for \S+, more than 20000/,
    );
  });

  test("are compressed losslessly with Brotli and gzip", () => {
    for (const name of names) {
      const originalBytes = readFileSync(join(folder, name));
      expect(brotliDecompressSync(readFileSync(join(folder, `${name}.br`))).equals(originalBytes), name).toBe(true);
      expect(gunzipSync(readFileSync(join(folder, `${name}.gz`))).equals(originalBytes), name).toBe(true);
    }
  });

  test("start with an HTML document without inline code; its files exist", () => {
    const html = read("index.html");
    expect(html).not.toMatch(/<style|style=|<script(?![^>]* src=)|\son\w+=/);
    const files = [...html.matchAll(/(?:src|href)="\/console\/assets\/([^"]+)"/g)].map(([, name]) => name);
    expect(files).toEqual(
      expect.arrayContaining([expect.stringMatching(/^main-\w+\.css$/), expect.stringMatching(/^main-\w+\.js$/)]),
    );
    expect(names).toEqual(expect.arrayContaining(files));
  });

  test("set no style attribute, as the content security policy demands", () => {
    const views = sourceFiles().filter(({ path }) => path.endsWith(".tsx"));
    expect(views.length).toBeGreaterThan(20);
    expect(views.filter(({ text }) => /\bstyle=/.test(text)).map(({ path }) => path)).toEqual([]);
  });

  test("load each AudioWorklet module from a file with a hashed name", () => {
    const code = names.filter((name) => name.endsWith(".js")).map(read);
    const worklets = names.filter((name) => /-worklet-\w+\.js$/.test(name));
    expect(worklets.length).toBeGreaterThan(0);
    for (const name of worklets) {
      expect(read(name)).toContain("registerProcessor(");
      expect(
        code.some((text) => text.includes(`"./${name}"`)),
        name,
      ).toBe(true);
    }
  });

  test("are named after their contents, so browsers may cache them permanently", () => {
    for (const name of names.filter((name) => name !== "index.html")) expect(name).toMatch(/-[A-Z0-9]{8}\.(?:js|css)$/);
  });
});
