import { expect, test } from "vitest";
import { BENCHMARKS } from "../bench/benchmarks.ts";
import { sections } from "../bench/document.ts";

test("docs/benchmarks.md has a section with title and method for every benchmark, in the order of its runs", () => {
  const documented = [...sections()].filter(([, { title, text }]) => title.length > 0 && text.length > 100);
  expect(documented.map(([name]) => name)).toEqual(Object.keys(BENCHMARKS));
});
