import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, test } from "vitest";

const pages = join(inject("packed").folder, "dist/console");

test("the package has the pages of the console, each file also compressed", () => {
  const names = readdirSync(pages);
  const page = readFileSync(join(pages, "index.html"), "utf8");
  const loadedNames = [...page.matchAll(/"\/console\/assets\/([^"]+)"/g)].map(([, name]) => name);
  expect(loadedNames.length).toBeGreaterThan(1);
  expect(names).toEqual(expect.arrayContaining(loadedNames));
  const uncompressed = names.filter((name) => !/\.(?:br|gz)$/.test(name));
  expect(names).toHaveLength(3 * uncompressed.length);
  expect(names).toEqual(expect.arrayContaining(uncompressed.flatMap((name) => [`${name}.br`, `${name}.gz`])));
});

test("the package has no source of the pages", () => {
  const files = readdirSync(inject("packed").folder, { recursive: true, encoding: "utf8" });
  expect(files.filter((file) => file.endsWith(".tsx") || file.includes("adapters"))).toEqual([]);
});
