import { expect, test } from "vitest";
import { commandToAdd, KNOWN_MODELS } from "../../../adapters/local-models/known-models.ts";

test("a voice's number never changes", () => {
  const numbers = KNOWN_MODELS.flatMap(({ name, number }) => (number === undefined ? [] : [[name, number]]));
  expect(Object.fromEntries(numbers)).toEqual({
    "vits-piper-pt_BR-faber-medium": 20,
    "vits-piper-pt_BR-cadu-medium": 21,
    "vits-piper-pt_BR-jeff-medium": 22,
    "vits-piper-pt_BR-edresson-low": 23,
    "vits-piper-pt_BR-miro-high": 24,
    "vits-piper-pt_BR-dii-high": 25,
    "vits-piper-es_ES-davefx-medium": 20,
    "vits-piper-es_ES-sharvard-medium": 21,
    "vits-piper-es_MX-claude-high": 20,
    "vits-piper-es_MX-ald-medium": 21,
    "vits-piper-es_AR-daniela-high": 20,
    "vits-piper-en_US-lessac-medium": 20,
    "vits-piper-en_US-amy-medium": 21,
    "vits-piper-en_US-ryan-medium": 22,
  });
});

test("each known voice has its own id, below those of other models", () => {
  const voices = KNOWN_MODELS.filter(({ job }) => job === "voice");
  const ids = voices.map(({ languages, number }) => `${languages[0]}-${number}`);
  expect(new Set(ids).size).toBe(voices.length);
  expect(voices.filter(({ number = 0 }) => number < 20 || number >= 50)).toEqual([]);
});

test("the size and licence of a model are stated only if known", () => {
  const describedModels = KNOWN_MODELS.filter(
    ({ megabytes, licence }) => megabytes !== undefined || licence !== undefined,
  );
  expect(describedModels.map(({ name, megabytes, licence }) => [name, megabytes, licence])).toEqual([
    ["vits-piper-pt_BR-faber-medium", 63, undefined],
    ["sherpa-onnx-streaming-zipformer-en-20M-2023-02-17", undefined, "Apache-2.0"],
    ["sherpa-onnx-nemotron-3.5-asr-streaming-0.6b-560ms-int8-2026-06-11", 650, undefined],
  ]);
});

test("a voice is added by its language and region, a recogniser by its language alone", () => {
  expect(commandToAdd("voice", "pt-BR")).toBe("ringport models add pt-BR");
  expect(commandToAdd("recogniser", "pt-BR")).toBe("ringport models add pt");
  expect(commandToAdd("recogniser", "en")).toBe("ringport models add en");
  expect(commandToAdd("voice", "fr-FR")).toBeUndefined();
  expect(commandToAdd("recogniser", "fr-FR")).toBeUndefined();
});
