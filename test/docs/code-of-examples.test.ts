import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { blocksOf, fileOf } from "./pages.ts";

/** Only the code: the example explains itself in comments, the guide in prose. */
const codeOf = (text: string) =>
  text
    .replace(/^\/\/.*\n/gm, "")
    .replace(/\n{2,}/g, "\n")
    .trim();

test("README.md has the example first-call", () => {
  const example = codeOf(readFileSync(fileOf("examples/first-call.ts"), "utf8")).replace(/^#!.*\n/, "");
  expect(blocksOf("README.md").map(({ text }) => codeOf(text))).toContain(example);
});

test.each(["app/voice/[[...path]]/route.ts", "next.config.ts"])("docs/embedding.md has the example's %s", (file) => {
  const example = codeOf(readFileSync(fileOf(`examples/next-route/${file}`), "utf8"));
  expect(blocksOf("docs/embedding.md").map(({ text }) => codeOf(text))).toContain(example);
});
