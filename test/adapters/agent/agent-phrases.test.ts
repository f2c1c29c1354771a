import { expect, test } from "vitest";
import { phrasesIn } from "../../../adapters/agent/agent-phrases.ts";
import { apologyIn } from "../../../src/domain/agents/apologies.ts";

test("phrases are in the tag's language, whatever its region", () => {
  expect(phrasesIn("pt-BR").goodbye).toBe("Até logo.");
  expect(phrasesIn("DE").apology).toBe(apologyIn("de-AT"));
});

test.each(["fi-FI", "", "__proto__", "constructor", "toString"])("phrases for %j are English", (language) => {
  expect(phrasesIn(language)).toBe(phrasesIn("en"));
  expect(apologyIn(language)).toBe(apologyIn("en"));
});
