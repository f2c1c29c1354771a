import { expect, inject, test } from "vitest";
import { bundle } from "./support/bundle.ts";

const { folder } = inject("packed");

test.each(["dist/index.js", "dist/client.js", "dist/testing.js"])(
  "%s and its dependencies load no runtime-specific module",
  async (file) => {
    const { imports } = await bundle(folder, file, "bundle");
    const requiredImports = imports.filter(({ external, kind }) => external === true && kind !== "dynamic-import");
    expect(requiredImports.map(({ path }) => path)).toEqual([]);
  },
);

test("ringport/client needs ky only, and loads streams and listening on demand", async () => {
  const { imports } = await bundle(folder, "dist/client.js", "external");
  const requiredImports = imports.filter(({ external, kind }) => external === true && kind !== "dynamic-import");
  expect(new Set(requiredImports.map(({ path }) => path))).toEqual(new Set(["ky"]));
  expect(imports.filter(({ kind }) => kind === "dynamic-import")).toHaveLength(2);
});
