import { expect, test } from "vitest";
import { readText, testPaths } from "./source-files.ts";

/** A top-level statement of a module that creates a resource removed at the end of a test file. */
const TOP_LEVEL_RESOURCE = /^(?:export )?(?:(?:const|let) [^=]*= *)?(?:await )?(?:temporaryFolder|atFileEnd)\(/m;

test("no module shared by test files creates resources that end with the first of them", () => {
  const sharedModules = testPaths().filter((path) => !path.endsWith(".test.ts"));
  expect(sharedModules.length).toBeGreaterThan(100);
  expect(
    sharedModules.filter((path) => TOP_LEVEL_RESOURCE.test(readText(path))),
    "use oncePerFile() of test/support/file-end.ts",
  ).toEqual([]);
});

test("random texts of any characters come from CODE_POINT, without a table of all characters", () => {
  const paths = testPaths().filter((path) => /\bunit: ["']binary["']/.test(readText(path)));
  expect(paths, "use CODE_POINT of test/support/fuzz.ts").toEqual([]);
});
