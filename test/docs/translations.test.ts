import { expect, test } from "vitest";
import { expectPage } from "./generated.ts";
import { blocksOf, TRANSLATIONS, textOf } from "./pages.ts";

const FENCED = /^```[\s\S]*?^```$/gm;
const headings = (page: string) => textOf(page).replace(FENCED, "").match(/^#+ /gm);

test.for(TRANSLATIONS)("%s has the README's blocks and headings", async (page) => {
  expect(headings(page)).toEqual(headings("README.md"));
  expect(blocksOf(page)).toHaveLength(blocksOf("README.md").length);
  const blocks = textOf("README.md").match(FENCED) ?? [];
  let blockIndex = 0;
  await expectPage(
    page,
    textOf(page).replace(FENCED, () => blocks[blockIndex++] ?? ""),
  );
});
