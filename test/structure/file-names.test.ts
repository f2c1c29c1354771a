import { posix } from "node:path";
import { expect, test } from "vitest";
import { sourceFiles } from "./source-files.ts";

/** Files that may have the name of another file. */
const SHARED_NAMES: readonly (readonly [paths: RegExp, reason: string])[] = [
  [/\/index\.ts$/, "entries of the package"],
  [/^src\/testing\//, "contracts and fakes are named after what they test"],
  [/^src\/ports\//, "a port and its adapter"],
  [/^adapters\/cli\//, "commands are named after their records"],
  [/^adapters\/telephony\/.*\/(?:leg|line)\.ts$/, "every network has a line and legs"],
  [/^adapters\/console\/app\/dictionary\/(?:en|pt)\//, "each language has a file for each part of the pages"],
];

const paths = sourceFiles().map(({ path }) => path);
const exemptions = SHARED_NAMES.map(([pattern]) => pattern);

test("no two files of src and adapters share a name", () => {
  expect(repeatedNames(paths, exemptions)).toEqual([]);
  expect(repeatedNames(["src/a/x.ts", "src/b/x.ts", "src/testing/y.ts", "src/b/y.ts"], exemptions)).toEqual([
    "src/a/x.ts src/b/x.ts",
  ]);
});

test("every exception to the rule is in use", () => {
  const staleExemptions = exemptions.filter((pattern) => {
    const others = exemptions.filter((other) => other !== pattern);
    return repeatedNames(paths, others).length === 0;
  });
  expect(staleExemptions).toEqual([]);
});

/** The files that share their name, apart from exempt ones. */
function repeatedNames(paths: readonly string[], exemptions: readonly RegExp[]): string[] {
  const pathsByName = new Map<string, string[]>();
  for (const path of paths) {
    if (exemptions.some((pattern) => pattern.test(path))) continue;
    const name = posix.basename(path);
    pathsByName.set(name, [...(pathsByName.get(name) ?? []), path]);
  }
  return [...pathsByName.values()].filter((files) => files.length > 1).map((files) => files.join(" "));
}
