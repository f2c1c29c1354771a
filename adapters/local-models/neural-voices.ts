import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { errorText } from "../../src/base/error.ts";
import { ownMember } from "../../src/base/own-member.ts";
import { SpeechFailed, type Voice } from "../../src/ports/speech.ts";
import { espeakScripts } from "../speech/espeak-scripts.ts";
import { compareVoiceIds, parseVoiceId, type VoiceId } from "../speech/parse-voice-id.ts";
import { VoiceLost } from "../speech/voice-catalogue.ts";
import { KNOWN_MODELS } from "./known-models.ts";
import type { SpeakInput } from "./messages.ts";
import { type ModelFolder, readModelFolder, type VoiceModel } from "./model-folder.ts";
import { numberVoices, storedModel, type UnnumberedVoice } from "./voice-numbers.ts";

/** A model's voice, under an id of the operator's choice. */
export interface NeuralVoice {
  /** Name of the model's folder. */
  readonly model: string;
  /** Index of the speaker. Default: 0. */
  readonly speaker?: number | undefined;
  /** Speed of speech; 1 is the voice's normal speed. */
  readonly speed?: number | undefined;
}

/** Voices by id, as in the option `embedded.neural.voices`. */
export type NeuralVoiceChoice = Readonly<Record<string, NeuralVoice>>;

/** Maximum number of a model's speakers that are listed; others need an id of the operator's choice. */
const MAX_SPEAKERS = 9;
/** Time after which the folder is read again, ms. */
const FRESH_MS = 5_000;

interface Entry {
  readonly voice: Voice;
  readonly input: Omit<SpeakInput, "text">;
}

/** A model folder's voices, by id. Notices new and removed models within seconds. */
export class NeuralVoices {
  readonly #folder: string;
  readonly #choice: NeuralVoiceChoice;
  #read: Promise<ReadonlyMap<string, Entry>> | undefined;
  #readAt = 0;
  /** Model names by voice id, for all ids that have been listed. */
  readonly #modelById = new Map<string, string>();

  /** Throws a TypeError for a malformed voice id. */
  constructor(folder: string, choice: NeuralVoiceChoice = {}) {
    const malformedId = Object.keys(choice).find((id) => !parseVoiceId(id));
    if (malformedId !== undefined) throw new TypeError(`"${malformedId}" is not a voice id; write it like "pt-BR-1"`);
    this.#folder = folder;
    this.#choice = choice;
  }

  /** All voices, sorted by id. */
  async all(): Promise<readonly Voice[]> {
    return [...(await this.#entries()).values()].map(({ voice }) => voice);
  }

  /**
   * The voice with this id; if there is none, number 1 is the language's first voice. @throws {VoiceLost} its model has
   * been removed
   */
  async find({ id, tag, number }: VoiceId): Promise<Voice | undefined> {
    const entries = await this.#entries();
    const voice = entries.get(id)?.voice;
    if (voice) return voice;
    if (number === 1) return (await this.all()).find(({ language }) => language === tag);
    const model =
      this.#modelById.get(id) ?? ownMember(this.#choice, id)?.model ?? (await storedModel(this.#folder, id));
    if (model !== undefined) throw new VoiceLost(this.#lossOf(id, model), this.#remedyFor(model));
    return undefined;
  }

  /** A voice's input for the engine. @throws {SpeechFailed} its model has been removed */
  async inputOf(id: string): Promise<Omit<SpeakInput, "text">> {
    const entry = (await this.#entries()).get(id);
    if (entry) return entry.input;
    throw this.lossError(id);
  }

  /** The error for a voice whose model has been removed. The next request reads the folder. */
  lossError(id: string): SpeechFailed {
    this.#read = undefined;
    return new SpeechFailed(this.#lossOf(id));
  }

  /** The folder's path is only for operators: clients get the folder's name. */
  #lossOf(id: string, model = this.#modelById.get(id) ?? "its model"): string {
    return `the model of voice ${id} cannot be used: ${model} is missing or damaged in the folder ${basename(this.#folder)}`;
  }

  #remedyFor(model: string): string {
    const force = existsSync(join(this.#folder, model)) ? "--force " : "";
    if (KNOWN_MODELS.some(({ name }) => name === model)) return `run: ringport models add ${force}${model}`;
    return `put the folder ${model} back into the model folder, whose path "ringport models" prints, or run: ringport models add ${force}--from FILE`;
  }

  #entries(): Promise<ReadonlyMap<string, Entry>> {
    const now = performance.now();
    if (this.#read && now - this.#readAt < FRESH_MS) return this.#read;
    this.#readAt = now;
    const read = this.#readVoices();
    read.catch(() => {
      this.#read = undefined;
    });
    this.#read = read;
    return read;
  }

  async #readVoices(): Promise<ReadonlyMap<string, Entry>> {
    const { entries } = await entriesOf(await readModelFolder(this.#folder), this.#choice);
    for (const { voice, input } of entries) this.#modelById.set(voice.id, basename(input.model.folder));
    return new Map(entries.map((entry) => [entry.voice.id, entry]));
  }
}

/** A folder's voices, and its unusable models, for operators. */
export async function inspectVoices(
  folder: string,
  choice: NeuralVoiceChoice = {},
): Promise<{ readonly models: ModelFolder; readonly voices: readonly Voice[]; readonly fault: string | undefined }> {
  const models = await readModelFolder(folder);
  const { entries, fault } = await entriesOf(models, choice);
  return { models, voices: entries.map(({ voice }) => voice), fault };
}

async function entriesOf(
  { path, voices: models }: ModelFolder,
  choice: NeuralVoiceChoice,
): Promise<{ readonly entries: readonly Entry[]; readonly fault: string | undefined }> {
  const listedSpeakers = models.flatMap((model) =>
    Array.from({ length: Math.min(model.speakers, MAX_SPEAKERS) }, (_, speaker) => ({ model, speaker })),
  );
  const unnumberedVoices = listedSpeakers.flatMap(({ model: { name, language }, speaker }): UnnumberedVoice[] =>
    language === undefined ? [] : [{ key: keyOf(name, speaker), model: name, speaker, language }],
  );
  const { ids, fault } = await numberVoices(path, unnumberedVoices).catch((error: unknown) => ({
    ids: new Map<string, string>(),
    fault: errorText(error),
  }));
  const numberedEntries = listedSpeakers.flatMap(({ model, speaker }) => {
    const id = ids.get(keyOf(model.name, speaker));
    return id === undefined ? [] : [entryOf(id, model, speaker)];
  });
  const chosenEntries = Object.keys(choice).flatMap((id) => {
    const { model: name, speaker = 0, speed } = ownMember(choice, id)!;
    const model = models.find((candidate) => candidate.name === name);
    return model && speaker < model.speakers ? [entryOf(id, model, speaker, speed)] : [];
  });
  const faults = [fault, ...Object.keys(choice).map((id) => choiceFault(id, ownMember(choice, id)!, models, path))];
  const entriesById = new Map([...numberedEntries, ...chosenEntries].map((entry) => [entry.voice.id, entry]));
  return {
    entries: [...entriesById.values()].sort((a, b) => compareVoiceIds(a.voice.id, b.voice.id)),
    fault: joinFaults(faults),
  };
}

/** Reason why an id of the operator's choice has no voice; undefined if it has one. */
function choiceFault(
  id: string,
  { model: name, speaker = 0 }: NeuralVoice,
  models: readonly VoiceModel[],
  path: string,
): string | undefined {
  const model = models.find((candidate) => candidate.name === name);
  const subject = `RINGPORT_SPEECH_MODEL_VOICES: "${id}" names`;
  if (!model) {
    const names = models.map((candidate) => candidate.name).join(", ") || "none";
    return `${subject} the model "${name}", which is not in ${path} (installed voices: ${names})`;
  }
  return speaker < model.speakers
    ? undefined
    : `${subject} speaker ${speaker} of ${name}, which has only 0 to ${model.speakers - 1}`;
}

function joinFaults(faults: readonly (string | undefined)[]): string | undefined {
  const knownFaults = faults.filter((fault) => fault !== undefined);
  return knownFaults.length === 0 ? undefined : knownFaults.join("; ");
}

function keyOf(model: string, speaker: number): string {
  return `${model}#${speaker}`;
}

function entryOf(id: string, model: VoiceModel, speaker: number, speed = 1): Entry {
  const language = id.slice(0, id.lastIndexOf("-"));
  const { name, files, speakers } = model;
  const voice: Voice = {
    id,
    language,
    engine: "neural",
    name: speakers > 1 ? keyOf(name, speaker) : name,
    quality: "natural",
    scripts: espeakScripts(language),
  };
  return { voice, input: { model: files, speaker, speed, language: language.toLowerCase() } };
}
