import { mkdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readModelFolder } from "../../../adapters/local-models/model-folder.ts";
import { inspectVoices } from "../../../adapters/local-models/neural-voices.ts";
import { onnxMetadata } from "../../../adapters/local-models/onnx-metadata.ts";
import { numberVoices } from "../../../adapters/local-models/voice-numbers.ts";
import { fuzz } from "../../support/fuzz.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { toneModels } from "../../support/tone-models.ts";

const DUO_MODEL = "vits-tone-en_US-duo-low";
const FLUTE = "vits-tone-pt_BR-flauta-low";
const RECOGNISER = "sherpa-onnx-streaming-t-one-tones";

describe("a model folder", () => {
  it("lists voices with their language and speakers, and recognisers", async () => {
    const { voices, recognisers, faults } = await readModelFolder(toneModels());
    expect(voices.map(({ name, language, speakers }) => [name, language, speakers])).toEqual([
      [DUO_MODEL, "en-US", 2],
      [FLUTE, "pt-BR", 1],
    ]);
    expect(recognisers.map(({ name, files }) => [name, files.kind])).toEqual([[RECOGNISER, "toneCtc"]]);
    expect(faults).toEqual([]);
  });

  it("recognises a model by the name of its subfolder, not by that of a parent folder", async () => {
    const folder = join(toneModels(), "t-one");
    const name = "sherpa-onnx-streaming-other";
    mkdirSync(folder);
    renameSync(join(folder, "..", RECOGNISER), join(folder, name));
    const { recognisers } = await readModelFolder(folder);
    expect(recognisers.map(({ files }) => files.kind)).toEqual(["zipformer2Ctc"]);
  });

  it("has no models if it does not exist", async () => {
    const folder = join(temporaryFolder("models"), "missing");
    expect(await readModelFolder(folder)).toEqual({ path: folder, voices: [], recognisers: [], faults: [] });
  });

  it.each<[fault: string, damage: (model: string) => void, reason: RegExp]>([
    ["a missing file", (model) => rmSync(join(model, "tokens.txt")), /tokens\.txt is missing/],
    ["an empty file", (model) => truncateSync(join(model, "tokens.txt")), /tokens\.txt is empty/],
    ["a model cut short", (model) => truncateSync(join(model, "en_US-duo-low.onnx"), 9_000), /cut short/],
    ["a text as model", (model) => writeFileSync(join(model, "en_US-duo-low.onnx"), "<html>"), /not an ONNX file/],
    [
      "a model without metadata",
      (model) => renameSync(join(model, "../other.onnx"), join(model, "en_US-duo-low.onnx")),
      /no metadata of sherpa-onnx/,
    ],
  ])("reports %s, and lists the other models", async (_, damage, reason) => {
    const folder = toneModels();
    // A recogniser's metadata differs from a voice's.
    writeFileSync(join(folder, "other.onnx"), readFileSync(join(folder, RECOGNISER, "model.onnx")));
    damage(join(folder, DUO_MODEL));
    const { voices, faults } = await readModelFolder(folder);
    expect(voices.map(({ name }) => name)).toEqual([FLUTE]);
    expect(faults).toEqual([{ name: DUO_MODEL, reason: expect.stringMatching(reason) }]);
  });

  it("ignores files and folders without a model", async () => {
    const folder = toneModels();
    mkdirSync(join(folder, "notes"));
    writeFileSync(join(folder, "README.md"), "…");
    expect((await readModelFolder(folder)).faults).toEqual([]);
  });
});

describe("an ONNX file's metadata", () => {
  const folder = toneModels();
  const bytes = new Uint8Array(readFileSync(join(folder, DUO_MODEL, "en_US-duo-low.onnx")));
  const scratchPath = join(folder, "scratch.onnx");
  const read = async (content: Uint8Array): Promise<ReadonlyMap<string, string> | string> => {
    writeFileSync(scratchPath, content);
    return onnxMetadata(scratchPath).catch((error: Error & { code?: string }) => `${error.code}`);
  };

  it("has a voice's rate and speakers", async () => {
    const metadata = await read(bytes);
    expect(Object.fromEntries(metadata as Map<string, string>)).toMatchObject({
      sample_rate: "16000",
      n_speakers: "2",
    });
  });

  fuzz(
    "is read, or refused, from any bytes",
    fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (content) => {
      const result = await read(content);
      expect(typeof result === "string" ? result : "read").toMatch(/^(read|model_invalid)$/);
    }),
  );

  fuzz(
    "is read, or refused, from a corrupted file",
    fc.asyncProperty(fc.nat(bytes.length - 1), fc.nat(255), fc.nat(bytes.length), async (at, byte, length) => {
      const content = bytes.slice(0, Math.max(1, length));
      if (at < content.length) content[at] = byte;
      const result = await read(content);
      expect(typeof result === "string" ? result : "read").toMatch(/^(read|model_invalid)$/);
    }),
  );
});

describe("a voice's id", () => {
  const voice = (model: string, language = "pt-BR", speaker = 0) => ({
    key: `${model}#${speaker}`,
    model,
    speaker,
    language,
  });

  it("has a known model's number, and otherwise the next one from 50", async () => {
    const folder = temporaryFolder("models");
    const { ids } = await numberVoices(folder, [voice("a"), voice("vits-piper-pt_BR-faber-medium"), voice("b")]);
    expect([...ids.values()]).toEqual(["pt-BR-50", "pt-BR-20", "pt-BR-51"]);
  });

  it("stays the same when models are added and removed", async () => {
    const folder = temporaryFolder("models");
    await numberVoices(folder, [voice("b"), voice("c")]);
    const { ids } = await numberVoices(folder, [voice("a"), voice("c"), voice("d", "en-US")]);
    expect([...ids]).toEqual([
      ["a#0", "pt-BR-52"],
      ["c#0", "pt-BR-51"],
      ["d#0", "en-US-50"],
    ]);
  });

  it("is missing, with a reason, if it cannot be stored", async () => {
    const folder = join(temporaryFolder("models"), "missing");
    const { ids, fault } = await numberVoices(folder, [voice("a"), voice("vits-piper-pt_BR-faber-medium")]);
    expect([...ids.values()]).toEqual(["pt-BR-20"]);
    expect(fault).toMatch(
      /voice-ids\.json: ENOENT: no such file or directory; make .* writable, or name the voices in RINGPORT_SPEECH_MODEL_VOICES$/,
    );
  });

  it("is reported if the operator set it and its model or speaker is missing", async () => {
    const folder = toneModels();
    const validVoice = { model: DUO_MODEL, speaker: 1 };
    const wrongVoices = { "pt-BR-30": { model: "nope" }, "en-US-31": { model: DUO_MODEL, speaker: 2 } };
    const { voices, fault } = await inspectVoices(folder, { "en-US-30": validVoice, ...wrongVoices });
    expect(voices.map(({ id }) => id)).toEqual(["en-US-30", "en-US-50", "en-US-51", "pt-BR-50"]);
    expect(fault).toBe(
      `RINGPORT_SPEECH_MODEL_VOICES: "pt-BR-30" names the model "nope", which is not in ${folder} (installed voices: ${DUO_MODEL}, ${FLUTE}); ` +
        `RINGPORT_SPEECH_MODEL_VOICES: "en-US-31" names speaker 2 of ${DUO_MODEL}, which has only 0 to 1`,
    );
    expect(await inspectVoices(folder, { "en-US-30": validVoice })).toMatchObject({ fault: undefined });
  });
});
