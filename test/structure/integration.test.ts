import { matchesGlob, posix } from "node:path";
import { describe, expect, test } from "vitest";
import { importsOf } from "./imports.ts";
import { INTEGRATION } from "./integration.ts";
import { LONG_FILES } from "./long-files.ts";
import { readText, testPaths } from "./source-files.ts";

/** Modules that reach the machine: a test that imports one, directly or indirectly, is not a unit test. */
const MACHINE_MODULES =
  /^(?:node:(?:child_process|dgram|https?|http2|net|sqlite|timers\/promises|tls|worker_threads)|pg|ws|adapters\/server\/.*)$/;
/** Modules that start a thread. */
const THREAD = /\bnew (?:WorkerPool|Worker)\(/;
/** Code that reads a clock or waits for one. */
const CLOCK = /\bperformance\.now\(|\bDate\.now\(|\bsetTimeout\([^()]*, *[1-9]|\bsleep\(/;
/** Other projects: see vitest.config.ts. */
const OTHER_PROJECTS = /^test\/(server|docs|peers|package|examples|adapters\/cli|console\/browser)\//;

const tests = testPaths().filter((path) => path.endsWith(".test.ts"));
const unitTests = tests.filter(
  (path) => !OTHER_PROJECTS.test(path) && !INTEGRATION.some((glob) => matchesGlob(path, glob)),
);

const targetsByFile = new Map<string, readonly string[]>();
function targetsOf(path: string): readonly string[] {
  const imports = targetsByFile.get(path) ?? importsOf({ path, text: readText(path) }).map(({ target }) => target);
  targetsByFile.set(path, imports);
  return imports;
}

/** Import path from a test file to the machine, through files of test/ only. */
function pathToMachine(path: string, seen = new Set<string>()): readonly string[] | undefined {
  if (seen.has(path)) return undefined;
  seen.add(path);
  for (const target of targetsOf(path)) {
    if (MACHINE_MODULES.test(target)) return [path, target];
    const targetPath =
      target.startsWith("test/") && posix.extname(target) === ".ts" ? pathToMachine(target, seen) : undefined;
    if (targetPath !== undefined) return [path, ...targetPath];
  }
  return undefined;
}

describe("the project unit", () => {
  test("has tests", () => {
    expect(unitTests.length).toBeGreaterThan(100);
  });

  test("opens no socket, process, worker or database", () => {
    const paths = unitTests.map((path) => pathToMachine(path)?.join(" → ")).filter((path) => path !== undefined);
    expect(paths, "move these tests to INTEGRATION in test/structure/integration.ts").toEqual([]);
  });

  test("starts no thread", () => {
    expect(unitTests.filter((path) => THREAD.test(readText(path)))).toEqual([]);
  });

  test("reads no clock but the processor's", () => {
    const readers = unitTests.filter((path) => CLOCK.test(readText(path)));
    expect(readers, "use a manual clock, or processorMs() of test/support/processor-time.ts").toEqual([]);
  });
});

describe("the project integration", () => {
  test("has tests for each of its patterns", () => {
    expect(INTEGRATION.filter((glob) => !tests.some((path) => matchesGlob(path, glob)))).toEqual([]);
  });
});

test("each long file is a test, and is named once", () => {
  expect(LONG_FILES.filter((path) => !tests.includes(path))).toEqual([]);
  expect(new Set(LONG_FILES).size).toBe(LONG_FILES.length);
});
