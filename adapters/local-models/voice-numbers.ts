import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { errorText } from "../../src/base/error.ts";
import { KNOWN_MODELS } from "./known-models.ts";

/** File next to the models with the ids given to unknown models' voices. */
const FILE = "voice-ids.json";
/** First number for unknown models' voices: smaller ones belong to the embedded engines and to known models. */
const FIRST_NUMBER = 50;
const LAST = 99;

/** A voice that needs an id. */
export interface UnnumberedVoice {
  /** The model and, after a `#`, the speaker: `kokoro-multi-lang-v1_0#43`. */
  readonly key: string;
  /** The model's name. */
  readonly model: string;
  readonly speaker: number;
  /** `pt-BR`. */
  readonly language: string;
}

/** Ids by key. */
export interface NumberedVoices {
  readonly ids: ReadonlyMap<string, string>;
  /**
   * Reason why new ids could not be stored, which leaves their voices without an id; undefined if all ids are stored.
   */
  readonly fault: string | undefined;
}

/**
 * Gives each voice a permanent id. Known models' voices have the number in the table; others get their language's next
 * number, which is stored next to the models and never given to another voice, even after the model has been removed.
 * @param folder the model folder
 */
export async function numberVoices(folder: string, voices: readonly UnnumberedVoice[]): Promise<NumberedVoices> {
  const stored = await storedIds(folder);
  const ids = new Map<string, string>();
  const newIds = new Map<string, string>();
  const usedIds = new Set(stored.values());
  for (const { key, model, speaker, language } of voices) {
    const knownNumber = KNOWN_MODELS.find(({ name }) => name === model)?.number;
    const id =
      knownNumber !== undefined && speaker === 0
        ? `${language}-${knownNumber}`
        : (stored.get(key) ?? nextId(language, usedIds));
    if (id === undefined) continue;
    if (knownNumber === undefined && !stored.has(key)) newIds.set(key, id);
    usedIds.add(id);
    ids.set(key, id);
  }
  if (newIds.size === 0) return { ids, fault: undefined };
  const fault = await store(folder, new Map([...stored, ...newIds])).then(
    () => undefined,
    (error: unknown) =>
      `the ids of new voices cannot be written to ${join(folder, FILE)}: ${reasonOf(error)}; make ${folder} writable, or name the voices in RINGPORT_SPEECH_MODEL_VOICES`,
  );
  if (fault !== undefined) for (const key of newIds.keys()) ids.delete(key);
  return { ids, fault };
}

/** The error without the draft's path, which is of no use to an operator. */
function reasonOf(error: unknown): string {
  return errorText(error).replace(/, \w+ '.*'$/, "");
}

function nextId(language: string, usedIds: ReadonlySet<string>): string | undefined {
  for (let number = FIRST_NUMBER; number <= LAST; number++) {
    const id = `${language}-${number}`;
    if (!usedIds.has(id)) return id;
  }
  return undefined;
}

/** The model to which an id has been given; undefined if it has not been given to any. */
export async function storedModel(folder: string, id: string): Promise<string | undefined> {
  const stored = await storedIds(folder).catch(() => new Map<string, string>());
  return [...stored].find(([, storedId]) => storedId === id)?.[0].replace(/#\d+$/, "");
}

async function storedIds(folder: string): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(join(folder, FILE), "utf8").catch(() => "{}");
  try {
    const entries = Object.entries(JSON.parse(text) as Record<string, unknown>);
    return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
  } catch {
    throw new Error(`${join(folder, FILE)} is not JSON; restore it, or delete it to number the voices anew`);
  }
}

async function store(folder: string, ids: ReadonlyMap<string, string>): Promise<void> {
  const draft = join(folder, `.${FILE}.${crypto.randomUUID()}`);
  await writeFile(draft, `${JSON.stringify(Object.fromEntries(ids), null, 2)}\n`);
  await rename(draft, join(folder, FILE));
}
