import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, inject, test } from "vitest";
import { bundle } from "./support/bundle.ts";

const { tarball, folder } = inject("packed");
const KIB = 1024;

// Each budget is the measured size plus a margin. Raise one only on purpose.
describe("sizes", () => {
  test.each([
    { title: "ringport without its dependencies", file: "dist/index.js", packages: "external", budget: 257 * KIB },
    { title: "ringport with its dependencies", file: "dist/index.js", packages: "bundle", budget: 270 * KIB },
    { title: "ringport/client without ky", file: "dist/client.js", packages: "external", budget: 6 * KIB },
    { title: "ringport/client with ky", file: "dist/client.js", packages: "bundle", budget: 14.5 * KIB },
  ] as const)("$title is at most $budget bytes, minified and compressed", async ({ file, packages, budget }) => {
    const { gzippedBytes } = await bundle(folder, file, packages);
    expect(gzippedBytes).toBeLessThanOrEqual(budget);
  });

  test("the tarball is at most 2,260 KiB", () => {
    expect(statSync(tarball).size).toBeLessThanOrEqual(2_260 * KIB);
    const files = readdirSync(join(folder, "dist")).filter((file) => file.endsWith(".js"));
    expect(files.reduce((bytes, file) => bytes + statSync(join(folder, "dist", file)).size, 0)).toBeLessThanOrEqual(
      3_760 * KIB,
    );
  });
});
