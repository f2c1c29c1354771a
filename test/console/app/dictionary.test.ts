import { afterEach, describe, expect, test } from "vitest";
import { dictionary, plural } from "../../../adapters/console/app/dictionary/dictionary.ts";
import { formatDay, formatDuration, formatRelative } from "../../../adapters/console/app/dictionary/format.ts";
import { changeLanguage, chosenLanguage } from "../../../adapters/console/app/dictionary/language.ts";

afterEach(() => changeLanguage("en"));

describe("the language", () => {
  test.each([
    [["pt-BR", "en"], "pt"],
    [["de-DE", "pt"], "pt"],
    [["EN-gb"], "en"],
    [[null, "pt-PT"], "pt"],
    [["toString", "fr"], "en"],
    [[], "en"],
  ] as const)("for %j is %s", (preferences, language) => {
    expect(chosenLanguage(preferences)).toBe(language);
  });
});

describe("a dictionary", () => {
  const calls = (count: number) => plural(count, { one: "# call", other: "# calls" });
  const chamadas = (count: number) => plural(count, { one: "# chamada", other: "# chamadas" });
  const t = dictionary({ en: { title: "Calls", calls }, pt: { title: "Chamadas", calls: chamadas } });

  test("has the texts of the chosen language", () => {
    changeLanguage("en");
    expect(t.value.title).toBe("Calls");
    changeLanguage("pt");
    expect(t.value.title).toBe("Chamadas");
  });

  test("follows the language's plural rules", () => {
    changeLanguage("en");
    expect([0, 1, 2].map((count) => t.value.calls(count))).toEqual(["0 calls", "1 call", "2 calls"]);
    changeLanguage("pt");
    expect([0, 1, 2].map((count) => t.value.calls(count))).toEqual(["0 chamada", "1 chamada", "2 chamadas"]);
  });
});

describe("formatting", () => {
  test.each([
    [0, "0:00"],
    [65_000, "1:05"],
    [3_723_000, "1:02:03"],
    [-1, "0:00"],
  ])("turns %i ms into %s", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  test("does not move a UTC day to another day", () => {
    changeLanguage("pt");
    expect(formatDay("2026-11-27", "short")).toMatch(/^27 de nov/);
  });

  test("shows a recent time relative to now", () => {
    changeLanguage("pt");
    const now = Date.parse("2026-11-27T12:00:00Z");
    expect(formatRelative("2026-11-27T11:55:00Z", now)).toBe("há 5 minutos");
    expect(formatRelative("2026-11-28T12:00:00Z", now)).toBe("amanhã");
  });
});
