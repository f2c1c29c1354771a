import { describe, expect, it } from "vitest";
import {
  isBest,
  languageOfVoice,
  matchingLanguages,
  suggestedVoice,
  voiceLanguages,
  voiceWithId,
} from "../../../adapters/console/app/pages/new-call/voice/voice-languages.ts";
import type { Voice } from "../../../src/client/index.ts";

function voice(id: string, quality: Voice["quality"] = "robotic", alias_of: string | null = null): Voice {
  const language = id.slice(0, id.lastIndexOf("-"));
  return { id, language, engine: "flite", name: id, quality, alias_of, sample_url: "" };
}

const VOICES = [
  voice("en-US-10"),
  voice("en-US-2"),
  voice("eo-001-1"),
  voice("pt-BR-1"),
  voice("pt-PT-1", "natural"),
  voice("en-GB-1", "natural", "en-GB-7"),
  voice("de-DE-1"),
];

const namesOf = (locale: string, preferences: readonly string[]) =>
  voiceLanguages(VOICES, locale, preferences).map(({ name }) => name);

describe("voice languages", () => {
  it("are named in the reader's language, preferred ones first", () => {
    expect(namesOf("en", ["en", "pt-BR", "en-GB"])).toEqual([
      "English (United Kingdom)",
      "English (United States)",
      "Portuguese (Brazil)",
      "Portuguese (Portugal)",
      "Esperanto",
      "German (Germany)",
    ]);
    expect(namesOf("pt-BR", ["de-CH"])).toEqual([
      "Alemão (Alemanha)",
      "Esperanto",
      "Inglês (Estados Unidos)",
      "Inglês (Reino Unido)",
      "Português (Brasil)",
      "Português (Portugal)",
    ]);
  });

  it("mark those that the reader prefers, and those with a natural voice", () => {
    const marks = voiceLanguages(VOICES, "en", ["pt"]).map(({ tag, isPreferred, hasNatural }) => [
      tag,
      isPreferred,
      hasNatural,
    ]);
    expect(marks.slice(0, 3)).toEqual([
      ["pt-BR", true, false],
      ["pt-PT", true, true],
      ["en-GB", false, true],
    ]);
  });

  it("list natural voices first, then by number", () => {
    const [englishVoices] = voiceLanguages([...VOICES, voice("en-US-3", "natural")], "en", ["en-US"]);
    expect(englishVoices?.voices.map(({ id }) => id)).toEqual(["en-US-3", "en-US-2", "en-US-10"]);
  });

  it("keep the tag of unnamed languages", () => {
    expect(voiceLanguages([{ ...voice("x-1"), language: "not a tag" }], "en", [])[0]?.name).toBe("not a tag");
  });
});

describe("a search for languages", () => {
  const languages = voiceLanguages(VOICES, "pt-BR", ["pt-BR"]);
  const tagsFor = (query: string) => matchingLanguages(languages, query).map(({ tag }) => tag);

  it.each([
    ["portugues", ["pt-BR", "pt-PT"]],
    ["PORTUGUÊS (Brasil)", ["pt-BR"]],
    ["pt-br", ["pt-BR"]],
    ["brazil", ["pt-BR"]],
    ["germ", ["de-DE"]],
    ["alemao", ["de-DE"]],
    ["unidos ingles", ["en-US"]],
    ["reino", ["en-GB"]],
    ["british", ["en-GB"]],
    ["esp", ["eo-001"]],
    ["klingon", []],
    ["  ", languages.map(({ tag }) => tag)],
  ])("for %j finds %j", (query, tags) => {
    expect(tagsFor(query)).toEqual(tags);
  });

  it("ignores other languages if one matches the whole tag or name", () => {
    const others = voiceLanguages([voice("da-DK-1"), voice("de-DE-1")], "pt-BR", []);
    expect(matchingLanguages(others, "de").map(({ tag }) => tag)).toEqual(["de-DE", "da-DK"]);
    expect(matchingLanguages(others, "de-DE").map(({ tag }) => tag)).toEqual(["de-DE"]);
  });

  it("puts the language that has the name before those that mention it", () => {
    const latins = voiceLanguages([voice("es-419-1"), voice("la-VA-1"), voice("sr-RS-1")], "en", []);
    expect(matchingLanguages(latins, "latin").map(({ tag }) => tag)).toEqual(["la-VA", "es-419"]);
  });
});

describe("the suggested voice", () => {
  it.each([
    [["pt-BR", "en"], "pt-BR-1"],
    [["pt", "en"], "pt-PT-1"],
    [["fr-FR", "en-GB"], "en-GB-1"],
    [["fr"], undefined],
  ])("for %j is %s", (language, id) => {
    expect(suggestedVoice(VOICES, language)?.id).toBe(id);
  });
});

describe("a voice's id", () => {
  it("also finds voices that are not the best of their language", () => {
    expect(voiceWithId(VOICES, "en-US-2")).toBe(VOICES[1]);
    expect(voiceWithId(VOICES, "en-GB-7")).toMatchObject({ id: "en-GB-7", quality: "natural", alias_of: null });
    expect(voiceWithId(VOICES, "en-US-99")).toBeUndefined();
  });

  it.each([
    ["pt-BR-1", "pt-BR", true],
    ["pt-BR-11", "pt-BR", false],
    ["es-419-1", "es-419", true],
    ["es-419-21", "es-419", false],
    ["constructor", undefined, false],
  ])("%s has the language %s", (id, language, best) => {
    expect([languageOfVoice(id), isBest(id)]).toEqual([language, best]);
  });
});
