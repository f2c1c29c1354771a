import { describe, expect, it } from "vitest";
import { suggestedVoice, voicesByLanguage } from "../../../adapters/console/pages/views/new-call/voices.ts";
import type { Voice } from "../../../src/client/index.ts";

function voice(id: string, language: string, quality: Voice["quality"] = "robotic"): Voice {
  return { id, language, engine: "flite", name: id, quality, sample_url: "" };
}

const VOICES = [
  voice("en-US-10", "en-US"),
  voice("en-US-2", "en-US"),
  voice("pt-BR-1", "pt-BR"),
  voice("pt-PT-1", "pt-PT", "natural"),
  voice("en-GB-1", "en-GB", "natural"),
];

describe("voices by language", () => {
  it("are grouped under the names of the languages, natural ones first", () => {
    const groups = voicesByLanguage([...VOICES, voice("en-US-3", "en-US", "natural")], "en");
    expect(groups.map(({ name }) => name)).toEqual([
      "American English",
      "Brazilian Portuguese",
      "British English",
      "European Portuguese",
    ]);
    expect(groups[0]?.voices.map(({ id }) => id)).toEqual(["en-US-3", "en-US-2", "en-US-10"]);
  });

  it("keep the tag of unnamed languages", () => {
    expect(voicesByLanguage([voice("x", "not a tag")], "en")[0]?.name).toBe("not a tag");
  });
});

describe("the likely voice", () => {
  it.each([
    [["pt-BR", "en"], "pt-BR-1"],
    [["pt", "en"], "pt-PT-1"],
    [["de-DE", "en-GB"], "en-GB-1"],
    [["de"], undefined],
  ])("for %j is %s", (wanted, id) => {
    expect(suggestedVoice(VOICES, wanted)?.id).toBe(id);
  });
});
