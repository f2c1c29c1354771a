import { expect, test } from "vitest";
import { parseHttpTools } from "../../adapters/agent/tools/parse-http-tools.ts";
import { documentOf } from "../http/support/document.ts";
import { serve } from "../http/support/fakes.ts";
import { faults, type Schema } from "../http/support/json-schema.ts";
import { blocksOf, PAGES } from "./pages.ts";

/** Languages of tested blocks; js has one block, which test/package/bundlers.test.ts uses. */
const LANGUAGES: ReadonlySet<string> = new Set(["ts", "js", "sh", "json", "text", "mermaid"]);

/** Text blocks that are not the output of a command, with their kinds. Each is identified by its start. */
const DRAWINGS: Readonly<Record<string, string>> = {
  "   HTTP / WebSocket": "the drawing of the layers",
  " caller ": "the drawing of a call's path",
  " POST /v1/calls": "the drawing of a call's states",
  " client ─ write ─▶": "how the audio of a live stream flows",
  " keys, words, silence": "how an agent conducts a call",
  "src/base/ ": "the tree of the folders",
};

test.for(PAGES)("%s: every code block has a language that is tested", (page) => {
  for (const { language, line } of blocksOf(page)) expect([...LANGUAGES], `${page}:${line}`).toContain(language);
});

test("the only js block is webpack's configuration", () => {
  const blocks = PAGES.flatMap(blocksOf).filter(({ language }) => language === "js");
  expect(blocks.map(({ text }) => text)).toEqual([expect.stringContaining("module ringport")]);
});

test("no shell block has a comment, which zsh would run or pass on", () => {
  const commentedBlocks = PAGES.flatMap(blocksOf).filter(
    ({ language, text }) => language === "sh" && /(^|\s)#(\s|$)/m.test(text),
  );
  expect(commentedBlocks.map(({ page, line }) => `${page}:${line}`)).toEqual([]);
});

test("a text block is the output of the command above it, or a drawing", () => {
  const texts = PAGES.flatMap(blocksOf).filter(({ language }) => language === "text");
  const separateTexts = texts.filter(({ after }) => after?.language !== "sh");
  const isDrawing = (text: string) => Object.keys(DRAWINGS).some((prefix) => text.startsWith(prefix));
  expect(separateTexts.filter(({ text }) => !isDrawing(text)).map(({ page, line }) => `${page}:${line}`)).toEqual([]);
});

test("state diagrams are only on the generated page", () => {
  const pagesWithDiagrams = PAGES.filter((page) =>
    blocksOf(page).some(({ language, text }) => language === "mermaid" && /^stateDiagram/m.test(text)),
  );
  expect(pagesWithDiagrams).toEqual(["docs/states.md"]);
});

test("a JSON block fits its schema, or is the response above it", async () => {
  const document = await documentOf(serve().app);
  const blocks = PAGES.flatMap(blocksOf).filter(({ language }) => language === "json");
  expect(blocks.length).toBeGreaterThan(20);
  for (const { page, line, note, text, after } of blocks) {
    const value = JSON.parse(text);
    if (note === "HttpTools") {
      expect(parseHttpTools(value, false).faults, `${page}:${line}`).toEqual([]);
      continue;
    }
    if (note === "Trunks") continue; // test/docs/sip.test.ts checks them
    if (note === "") expect(after?.language, `${page}:${line} names no schema`).toBe("sh");
    else {
      const schema = document.components.schemas[note] as Schema | undefined;
      expect(schema, `${page}:${line}: ${note}`).toBeDefined();
      expect(faults(document, schema!, value), `${page}:${line}`).toEqual([]);
    }
  }
});
