import { describe, expect, test } from "vitest";
import {
  commentsOf,
  countOf,
  HABITS,
  isQuery,
  PHRASES,
  proseOf,
  REPORTING_VERBS,
  titlesOf,
  WHERE,
  wordsOf,
} from "./english.ts";
import { docPaths, readText, type SourceFile, sourceFiles, testPaths } from "./source-files.ts";

const files = sourceFiles();

/** Files with the highest counts, one per line, for the message of a failure. */
function worstFiles(count: (file: SourceFile) => number): string {
  return files
    .map((file) => ({ path: file.path, count: count(file) }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count)
    .slice(0, 25)
    .map(({ path, count }) => `${String(count).padStart(5)}  ${path}`)
    .join("\n");
}

describe("the English of src and adapters", () => {
  test.each([
    ["told, tells, says, said and hears occur", REPORTING_VERBS, 120, "APIs return, report, emit, notify, name or log"],
    ["where occurs outside of queries", WHERE, 150, 'a condition begins with "if" or "when"'],
  ] as const)("%s at most as often as the limit allows", (_, habit, limit, advice) => {
    const count = (file: SourceFile): number => countOf(habit, file);
    const total = files.reduce((sum, file) => sum + count(file), 0);
    expect(total, `${total} of at most ${limit}: ${advice}\n${worstFiles(count)}\n`).toBeLessThanOrEqual(limit);
  });
});

const testFiles = testPaths().map((path) => ({ path, text: readText(path) }));

describe.each([
  ["comments of src and adapters", files],
  ["comments of test", testFiles],
] as const)("%s", (_, commentedFiles) => {
  const comments = commentedFiles.flatMap((file) =>
    commentsOf(file).map((comment) => ({ ...comment, path: file.path })),
  );
  const words = comments.reduce((sum, { text }) => sum + wordsOf(text), 0);

  test.each(HABITS)("$name at most twice as often as elsewhere", ({ kind, pattern, rate, advice }) => {
    const matches = comments
      .filter(({ isDocstring }) => kind === "comment" || isDocstring)
      .flatMap(({ path, text }) => (text.match(pattern) ?? []).map(() => `${path}: ${text.slice(0, 120)}`));
    const limit = Math.floor((2 * rate * words) / 10_000);
    expect(
      matches.length,
      `${matches.length} of at most ${limit}: ${advice}\n${matches.slice(0, 25).join("\n")}\n`,
    ).toBeLessThanOrEqual(limit);
  });

  test.each(PHRASES)("$name at most $limit times", ({ kind, pattern, limit, advice }) => {
    const matches = comments
      .filter(({ isDocstring }) => kind === "comment" || isDocstring)
      .flatMap(({ path, text }) => (text.match(pattern) ?? []).map(() => `${path}: ${text.slice(0, 120)}`));
    expect(
      matches.length,
      `${matches.length} of at most ${limit}: ${advice}\n${matches.join("\n")}\n`,
    ).toBeLessThanOrEqual(limit);
  });
});

describe("comments", () => {
  test("no constant is named MOST_, LONGEST_, LARGEST_, LEAST_ or SHORTEST_", () => {
    const namedMatches = files.flatMap(({ path, text }) =>
      (text.match(/\b(?:MOST|LONGEST|LARGEST|LEAST|SHORTEST)_[A-Z0-9_]+/g) ?? []).map((name) => `${path}: ${name}`),
    );
    expect(namedMatches, "limits are MAX_ or MIN_").toEqual([]);
  });

  test("are found in blocks and after code", () => {
    const text = "/** Time until\n * the end. */\nconst a = 1; // one that\n// two\n/* three */";
    expect(commentsOf({ path: "src/x.ts", text })).toEqual([
      { isDocstring: true, text: "Time until the end." },
      { isDocstring: false, text: "one that" },
      { isDocstring: false, text: "two" },
      { isDocstring: false, text: "three" },
    ]);
  });
});

describe.each([
  ["test titles", testFiles.map((file) => ({ path: file.path, text: titlesOf(file).join("\n") }))],
  ["docs", docPaths().map((path) => ({ path, text: proseOf(readText(path)) }))],
] as const)("%s", (_, texts) => {
  const words = texts.reduce((sum, { text }) => sum + wordsOf(text), 0);

  test.each(HABITS.filter(({ kind }) => kind === "comment"))(
    "$name at most twice as often as elsewhere",
    ({ pattern, rate, advice }) => {
      const matches = texts.flatMap(({ path, text }) =>
        text
          .split("\n")
          .flatMap((line) => (line.match(pattern) ?? []).map(() => `${path}: ${line.trim().slice(0, 120)}`)),
      );
      const limit = Math.ceil((2 * rate * words) / 10_000);
      expect(
        matches.length,
        `${matches.length} of at most ${limit}: ${advice}\n${matches.slice(0, 25).join("\n")}\n`,
      ).toBeLessThanOrEqual(limit);
    },
  );

  test.each(PHRASES.filter(({ kind }) => kind === "comment"))(
    "$name at most $limit times",
    ({ pattern, limit, advice }) => {
      const matches = texts.flatMap(({ path, text }) =>
        text
          .split("\n")
          .flatMap((line) => (line.match(pattern) ?? []).map(() => `${path}: ${line.trim().slice(0, 120)}`)),
      );
      expect(
        matches.length,
        `${matches.length} of at most ${limit}: ${advice}\n${matches.join("\n")}\n`,
      ).toBeLessThanOrEqual(limit);
    },
  );
});

test("half of the test titles have 8 words or fewer", () => {
  const lengths = testFiles.flatMap((file) => titlesOf(file).map(wordsOf));
  expect(lengths.filter((length) => length <= 8).length).toBeGreaterThanOrEqual(lengths.length / 2);
});

describe("the count", () => {
  const count = (habit: RegExp, text: string): number => countOf(habit, { path: "src/x.ts", text });

  test("finds the verbs of speaking in any case, as whole words", () => {
    expect(count(REPORTING_VERBS, "// It is told what the log says. Tells! essays, hearsay, #said")).toBe(4);
  });

  test("finds where in comments, names and texts", () => {
    expect(count(WHERE, 'const where = "Where it is"; // where a limit is set')).toBe(3);
  });

  test("leaves queries out, on one line and on many", () => {
    expect(count(WHERE, 'db.selectFrom("calls").where("id", "=", id)\n  .where("status", "=", "QUEUED")')).toBe(0);
    expect(count(WHERE, "sql`update calls\n  set owner = null\n  where status = 'QUEUED'`")).toBe(0);
    expect(count(WHERE, 'database.prepare("select file from list where name = ?")')).toBe(0);
  });

  test("keeps a text that only begins like a query", () => {
    expect(isQuery("select the place where it stands")).toBe(false);
    expect(isQuery("select id from calls where id = 1")).toBe(true);
  });
});
