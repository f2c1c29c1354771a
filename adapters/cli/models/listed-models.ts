import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Voice } from "../../../src/ports/speech.ts";
import { licenceByCard } from "../../neural/installation/install-model.ts";
import { KNOWN_MODELS, type KnownModel } from "../../neural/known-models.ts";
import { inspectVoices, type NeuralVoiceChoice } from "../../neural/neural-voices.ts";

/** A model as `ringport models` lists it; null for what is unknown. */
export interface ListedModel {
  readonly name: string;
  readonly job: KnownModel["job"] | null;
  readonly languages: readonly string[];
  readonly state: "installed" | "available" | "broken";
  /** True for the models that Ringport knows; the first one of a language is recommended. */
  readonly known: boolean;
  /** Ids of its voices, or that of its first voice if it is not installed. */
  readonly voices: readonly string[];
  /** Size of the archive, about. */
  readonly download_mb: number | null;
  readonly memory_mb: number | null;
  /** Bytes of its folder. */
  readonly installed_bytes: number | null;
  readonly licence: string | null;
  /** Why it cannot be used. */
  readonly reason: string | null;
}

/** A model folder and all models that are there or could be. */
export interface ModelList {
  readonly models: readonly ListedModel[];
  /** Why new voices have no id; null if all have one. */
  readonly fault: string | null;
}

/** Known models in the order of their table, then others by name. */
export async function listModels(folder: string, choice?: NeuralVoiceChoice): Promise<ModelList> {
  const { models, voices, fault } = await inspectVoices(folder, choice);
  const reasons = new Map(models.faults.map(({ name, reason }) => [name, reason]));
  const present = new Map<string, KnownModel["job"] | null>([
    ...models.faults.map(({ name }) => [name, null] as const),
    ...models.voices.map(({ name }) => [name, "voice"] as const),
    ...models.recognisers.map(({ name }) => [name, "recogniser"] as const),
  ]);
  const others = [...present.keys()].filter((name) => !KNOWN_MODELS.some((known) => known.name === name)).sort();
  const listed = [...KNOWN_MODELS.map(({ name }) => name), ...others].map(async (name): Promise<ListedModel> => {
    const known = KNOWN_MODELS.find((model) => model.name === name);
    const isPresent = present.has(name);
    const reason = reasons.get(name) ?? null;
    const own = voices.filter((voice) => modelOf(voice) === name);
    const path = join(folder, name);
    return {
      name,
      job: known?.job ?? present.get(name) ?? null,
      languages: known?.languages ?? [...new Set(own.map(({ language }) => language))],
      state: reason !== null ? "broken" : isPresent ? "installed" : "available",
      known: known !== undefined,
      voices: isPresent ? own.map(({ id }) => id) : firstVoice(known),
      download_mb: known?.megabytes ?? null,
      memory_mb: known?.memoryMb ?? null,
      installed_bytes: isPresent ? await bytesIn(path) : null,
      licence: (isPresent ? await licenceByCard(path) : undefined) ?? known?.licence ?? null,
      reason,
    };
  });
  return { models: await Promise.all(listed), fault: fault ?? null };
}

/** The model of a voice: its name without the speaker. */
function modelOf({ name }: Voice): string {
  return name.replace(/#\d+$/, "");
}

function firstVoice(known: KnownModel | undefined): string[] {
  return known?.number === undefined ? [] : [`${known.languages[0]}-${known.number}`];
}

/** Bytes of the files below a folder. */
async function bytesIn(path: string): Promise<number> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const sizes = await Promise.all(files.map(async (file) => (await lstat(file)).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
