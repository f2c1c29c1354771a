import { describe, expect, it } from "vitest";
import { listedVoices } from "../../src/application/listed-voices.ts";
import type { Voice } from "../../src/ports/speech.ts";

const voice = (id: string, overrides: Partial<Voice> = {}): Voice => ({
  id,
  language: id.slice(0, id.lastIndexOf("-")),
  engine: "espeak-ng",
  name: id,
  quality: "robotic",
  ...overrides,
});

const VOICES = [
  voice("de-DE-1", { aliasOf: "de-DE-9" }),
  voice("de-DE-2", { isVariant: true }),
  voice("de-DE-9"),
  voice("pt-BR-1", { aliasOf: "pt-BR-20", quality: "natural" }),
  voice("pt-BR-9"),
  voice("pt-BR-20", { quality: "natural" }),
  voice("pt-PT-1", { aliasOf: "pt-PT-9" }),
  voice("pt-PT-9"),
];

describe("the list of voices", () => {
  it.each([
    ["has each voice once, the best of a language as number 1", {}, ["de-DE-1", "pt-BR-1", "pt-BR-9", "pt-PT-1"]],
    ["has every id with variants", { variants: true }, VOICES.map(({ id }) => id)],
    ["is filtered by a language in all its regions", { language: "PT" }, ["pt-BR-1", "pt-BR-9", "pt-PT-1"]],
    ["is filtered by a region", { language: "pt-br" }, ["pt-BR-1", "pt-BR-9"]],
    ["is filtered by quality", { quality: "natural" }, ["pt-BR-1"]],
    ["does not match part of a language code", { language: "p" }, []],
  ] as const)("%s", (_, filter, ids) => {
    expect(listedVoices(VOICES, filter).map(({ id }) => id)).toEqual(ids);
  });
});
