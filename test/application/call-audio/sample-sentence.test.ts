import { expect, test } from "vitest";
import { sampleSentence } from "../../../src/application/call-audio/sample-sentence.ts";

test("a voice introduces itself in its language", () => {
  expect(sampleSentence("pt-BR")).toBe("Olá! É assim que a minha voz soa ao telefone.");
});

test.each(["xx-XX", "", "__proto__", "constructor", "toString"])(
  "a voice of the unknown language %j speaks numbers",
  (language) => {
    expect(sampleSentence(language)).toBe("1, 2, 3, 4, 5.");
  },
);
