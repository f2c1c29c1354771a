import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { responseTypesText } from "./support/response-types.ts";

const FILE = fileURLToPath(new URL("../../src/http/response-types.ts", import.meta.url));

test("response-types.ts is generated from the schemas", async () => {
  if (process.env.UPDATE_DOCS) await writeFile(FILE, responseTypesText());
  expect(await readFile(FILE, "utf8"), "run this test with UPDATE_DOCS=1").toBe(responseTypesText());
});
