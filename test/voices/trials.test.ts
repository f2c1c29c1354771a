import { describe, expect, it } from "vitest";
import { SENTENCES } from "./sentences.ts";
import { planTrials, type TrialInput } from "./trials.ts";
import { wordsOf } from "./word-errors.ts";

const ENGLISH = "sherpa-onnx-streaming-zipformer-en-20M-2023-02-17";
const MULTILINGUAL_MODEL = "sherpa-onnx-nemotron-3.5-asr-streaming-0.6b-560ms-int8-2026-06-11";
const OTHER_MODEL = "sherpa-onnx-streaming-other";

const voice = (id: string, engine: string, aliasOf?: string) => ({
  id,
  engine,
  language: id.slice(0, id.lastIndexOf("-")),
  name: `model of ${id}`,
  aliasOf,
});
const VOICES = [
  voice("en-US-1", "flite", "en-US-7"),
  voice("en-US-7", "flite"),
  voice("en-US-9", "espeak-ng"),
  voice("fr-FR-50", "neural"),
  voice("pt-BR-1", "neural", "pt-BR-20"),
  voice("pt-BR-2", "espeak-ng"),
  voice("pt-BR-9", "espeak-ng"),
  voice("pt-BR-20", "neural"),
];

function plan(input: Partial<TrialInput> = {}) {
  const { trials, skipped } = planTrials({ voices: VOICES, recognisers: [MULTILINGUAL_MODEL], ...input });
  return {
    ids: trials.map(({ voiceId }) => voiceId),
    recognisers: trials.map(({ recogniser }) => recogniser),
    skipped,
    trials,
  };
}

describe("the plan of the trials", () => {
  it("has each natural voice once, and then the plain embedded voices of the same languages", () => {
    const { ids, trials } = plan();
    expect(ids).toEqual(["pt-BR-20", "pt-BR-9"]);
    expect(trials[0]).toEqual({
      voiceId: "pt-BR-20",
      engine: "neural",
      model: "model of pt-BR-20",
      language: "pt",
      recogniser: MULTILINGUAL_MODEL,
      sentences: SENTENCES.get("pt"),
    });
  });

  it("names the voices that it leaves out, and the fix", () => {
    expect(plan().skipped).toEqual([expect.stringMatching(/^fr-FR-50: no installed recogniser supports "fr"/)]);
    expect(plan({ recognisers: [OTHER_MODEL] }).skipped).toEqual([
      expect.stringMatching(/^fr-FR-50: there are no sentences in "fr"; .*--sentences FILE/),
    ]);
  });

  it("has the voices and sentences of the user's choice", () => {
    const { ids, skipped, trials } = plan({ voiceIds: ["en-US-7", "en-US-99"], sentences: ["hello"] });
    expect([ids, trials.map(({ sentences }) => sentences)]).toEqual([["en-US-7"], [["hello"]]]);
    expect(skipped).toEqual([expect.stringMatching(/^en-US-99: there is no such voice/)]);
  });

  it("prefers a recogniser that is known for the language, unless the user names one", () => {
    const voiceIds = ["en-US-7", "pt-BR-20"];
    const recognisers = [OTHER_MODEL, ENGLISH, MULTILINGUAL_MODEL];
    expect(plan({ voiceIds, recognisers }).recognisers).toEqual([ENGLISH, MULTILINGUAL_MODEL]);
    expect(plan({ voiceIds, recognisers: [OTHER_MODEL, ENGLISH] }).recognisers).toEqual([ENGLISH, OTHER_MODEL]);
    expect(plan({ voiceIds, recognisers: [ENGLISH] }).recognisers).toEqual([ENGLISH]);
    expect(plan({ voiceIds, recognisers, recogniser: OTHER_MODEL }).recognisers).toEqual([OTHER_MODEL, OTHER_MODEL]);
    expect(plan({ voiceIds, recognisers, recogniser: "missing" }).recognisers).toEqual([]);
  });
});

describe("the sentences", () => {
  it.each([...SENTENCES])("for %s are ten different ones, without digits", (_, sentences) => {
    expect(new Set(sentences.map((sentence) => wordsOf(sentence).join(" "))).size).toBe(10);
    expect(sentences.filter((sentence) => /\d/.test(sentence) || sentence.length > 120)).toEqual([]);
  });
});
