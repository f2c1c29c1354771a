import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, inject, test } from "vitest";
import { dependenciesOf } from "../../.ci/third-party.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const ACCEPTED = /^(MIT|MIT OR Apache-2\.0|ISC|Apache-2\.0|BSD-2-Clause|BSD-3-Clause|0BSD|BlueOak-1\.0\.0)$/;

describe("licences", () => {
  const { required, optional } = dependenciesOf(ROOT);
  const { folder } = inject("packed");
  const notices = readFileSync(join(folder, "dist/third-party-notices.txt"), "utf8");

  test("of installed dependencies are permissive", () => {
    expect(required.length).toBeGreaterThan(8);
    expect(required.filter(({ licence }) => !ACCEPTED.test(licence)).map(({ name }) => name)).toEqual([]);
  });

  test("of the GPL belong only to optional peers", () => {
    const { peerDependenciesMeta } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    expect(optional.filter(({ licence }) => /GPL/.test(licence)).map(({ name }) => name)).toEqual([
      "@echogarden/espeak-ng-emscripten",
    ]);
    for (const { name } of optional) expect(peerDependenciesMeta[name]).toEqual({ optional: true });
  });

  test("are listed for every package, with full texts for bundled code", () => {
    for (const { name, version, licence } of [...required, ...optional])
      expect(notices).toContain(`\n${name} ${version}: ${licence}`);
    const [bundledPart = ""] = notices.split("These packages are installed with this one");
    expect(bundledPart).toContain("swagger-ui-dist 5.35.0: Apache-2.0");
    expect(bundledPart).toContain("Copyright 2020-2021 SmartBear Software Inc.");
    expect(bundledPart.match(/Apache License/g)).not.toBeNull();
    expect(existsSync(join(folder, "dist/assets/swagger-ui-bundle.js.LICENSE.txt"))).toBe(true);
  });

  test("are listed for all code in the built files", () => {
    const [bundledPart = ""] = notices.split("These packages are installed with this one");
    const names = bundledPart.match(/^\S+(?= \d+\.\d+\.\d+: )/gm);
    // The command line bundles modern-tar, and the console's pages bundle the other packages.
    expect(names).toEqual([
      "@preact/signals",
      "@preact/signals-core",
      "ky",
      "modern-tar",
      "partysocket",
      "preact",
      "swagger-ui-dist",
      "valibot",
    ]);
    expect(bundledPart).toContain("Copyright (c) 2022-present Preact Team");
  });
});
