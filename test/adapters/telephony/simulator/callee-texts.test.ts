import { describe, expect, test } from "vitest";
import { calleeText } from "../../../../adapters/telephony/simulator/callee-texts.ts";
import { NUMBER_PLAN } from "../../../../adapters/telephony/simulator/index.ts";
import { isVoicemailGreeting } from "../../../../src/domain/answering/voicemail-phrases.ts";

const sentences = (): string[] =>
  [...NUMBER_PLAN.values()].flatMap(({ steps }) => steps.flatMap((step) => (step.do === "say" ? [step.text] : [])));

describe("simulated callees' words", () => {
  test.each(["pt-BR", "es-MX"])("are translated for voices of %s", (language) => {
    for (const text of sentences()) expect(calleeText(text, language), text).not.toBe(text);
  });

  test("are English in other languages", () => {
    for (const text of sentences())
      for (const language of ["en-US", "de-DE"]) expect(calleeText(text, language)).toBe(text);
  });

  test.each(["en-US", "pt-BR", "es-MX"])("from a voicemail box are recognised as such in %s", (language) => {
    const texts = sentences().map((text) => calleeText(text, language));
    expect(texts.filter(isVoicemailGreeting)).toHaveLength(2);
  });
});
