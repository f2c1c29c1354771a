import { readFileSync } from "node:fs";
import { join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { expect, inject, test } from "vitest";
import { entriesOf } from "./support/entries.ts";
import { mustRun } from "./support/run.ts";

const { tarball, folder } = inject("packed");
const modules = join(import.meta.dirname, "node_modules");

test("publint reports no problem", async () => {
  const { buffer } = new Uint8Array(readFileSync(tarball));
  const { messages, pkg } = await publint({ pack: { tarball: buffer }, strict: true });
  expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
});

test("the types of every entry resolve for Node and for bundlers", async () => {
  const attw = join(modules, "@arethetypeswrong/cli/dist/index.js");
  const command = [process.execPath, attw, tarball, "--profile", "esm-only", "--format", "json"];
  const { analysis } = JSON.parse(await mustRun(command, { cwd: folder }));
  const entries = Object.keys(analysis.entrypoints).map((key) => `ringport${key.slice(1)}`);
  expect(entries).toEqual(expect.arrayContaining(entriesOf(folder).map(({ specifier }) => specifier)));
  type Problem = { readonly kind: string; readonly resolutionKind?: string };
  const modernProblems = analysis.problems.filter(
    (problem: Problem) => !/^node(10|16-cjs)$/.test(problem.resolutionKind ?? ""),
  );
  expect(modernProblems).toEqual([]);
});
