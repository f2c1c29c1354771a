import { expect, inject, test } from "vitest";
import { bundle } from "./support/bundle.ts";

const { folder } = inject("packed");

test.each(["dist/index.js", "dist/client.js", "dist/testing.js"])(
  "%s loads nothing that only one runtime has, its dependencies included",
  async (file) => {
    const { imports } = await bundle(folder, file, "bundle");
    const needed = imports.filter(({ external, kind }) => external === true && kind !== "dynamic-import");
    expect(needed.map(({ path }) => path)).toEqual([]);
  },
);

test("ringport/client needs ky and nothing else", async () => {
  const { imports } = await bundle(folder, "dist/client.js", "external");
  expect(new Set(imports.map(({ path }) => path))).toEqual(new Set(["ky"]));
});
