import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Voice } from "../../../src/ports/speech.ts";
import { licenceByCard } from "../../local-models/installation/install-model.ts";
import { KNOWN_MODELS, type KnownModel } from "../../local-models/known-models.ts";
import { inspectVoices, type NeuralVoiceChoice } from "../../local-models/neural-voices.ts";

/** A model as `ringport models` lists it; unknown values are null. */
export interface ListedModel {
  readonly name: string;
  readonly job: KnownModel["job"] | null;
  readonly languages: readonly string[];
  readonly state: "installed" | "available" | "broken";
  /** True for the models that Ringport knows; the first one for each language is recommended. */
  readonly known: boolean;
  /** Ids of the model's voices; only the first one if the model is not installed. */
  readonly voices: readonly string[];
  /** Approximate size of the archive. */
  readonly download_mb: number | null;
  readonly memory_mb: number | null;
  /** Size of the model's folder, bytes. */
  readonly installed_bytes: number | null;
  readonly licence: string | null;
  /** Reason why the model cannot be used; null if usable. */
  readonly reason: string | null;
}

/** All models that are in a folder or can be installed there. */
export interface ModelList {
  readonly models: readonly ListedModel[];
  /** Reason why new voices have no id; null if all voices have one. */
  readonly fault: string | null;
}

/** Lists the known models in table order, then other models by name. */
export async function listModels(folder: string, choice?: NeuralVoiceChoice): Promise<ModelList> {
  const { models, voices, fault } = await inspectVoices(folder, choice);
  const reasons = new Map(models.faults.map(({ name, reason }) => [name, reason]));
  const jobsByName = new Map<string, KnownModel["job"] | null>([
    ...models.faults.map(({ name }) => [name, null] as const),
    ...models.voices.map(({ name }) => [name, "voice"] as const),
    ...models.recognisers.map(({ name }) => [name, "recogniser"] as const),
  ]);
  const otherNames = [...jobsByName.keys()].filter((name) => !KNOWN_MODELS.some((model) => model.name === name)).sort();
  const entries = [...KNOWN_MODELS.map(({ name }) => name), ...otherNames].map(async (name): Promise<ListedModel> => {
    const knownModel = KNOWN_MODELS.find((model) => model.name === name);
    const isPresent = jobsByName.has(name);
    const reason = reasons.get(name) ?? null;
    const modelVoices = voices.filter((voice) => modelOf(voice) === name);
    const path = join(folder, name);
    return {
      name,
      job: knownModel?.job ?? jobsByName.get(name) ?? null,
      languages: knownModel?.languages ?? [...new Set(modelVoices.map(({ language }) => language))],
      state: reason !== null ? "broken" : isPresent ? "installed" : "available",
      known: knownModel !== undefined,
      voices: isPresent ? modelVoices.map(({ id }) => id) : firstVoice(knownModel),
      download_mb: knownModel?.megabytes ?? null,
      memory_mb: knownModel?.memoryMb ?? null,
      installed_bytes: isPresent ? await bytesIn(path) : null,
      licence: (isPresent ? await licenceByCard(path) : undefined) ?? knownModel?.licence ?? null,
      reason,
    };
  });
  return { models: await Promise.all(entries), fault: fault ?? null };
}

/** The model of a voice: its name without the speaker. */
function modelOf({ name }: Voice): string {
  return name.replace(/#\d+$/, "");
}

function firstVoice(model: KnownModel | undefined): string[] {
  return model?.number === undefined ? [] : [`${model.languages[0]}-${model.number}`];
}

/** Total size of the files under a folder, bytes. */
async function bytesIn(path: string): Promise<number> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const sizes = await Promise.all(files.map(async (file) => (await lstat(file)).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
