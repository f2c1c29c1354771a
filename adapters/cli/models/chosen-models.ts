import { didYouMean } from "../../../src/base/nearest.ts";
import { isModelName } from "../../local-models/installation/install-model.ts";
import { KNOWN_MODELS, type KnownModel } from "../../local-models/known-models.ts";
import { UsageError } from "../usage-error.ts";

/** `pt`, or `pt-BR`; a model's name is longer. */
const LANGUAGE = /^[a-z]{2,3}(?:[-_][a-z]{2})?$/i;
/** Prefixes of recognisers' names; all other models are voices. */
const RECOGNISERS = /^sherpa-onnx-(?!supertonic|pocket|zipvoice)/;

/**
 * The models that these words choose: a language with a region chooses its first known voice; a language alone, its
 * first known recogniser too; a name, the model of that name. @param all true for every known model of the languages
 * @throws {UsageError} an unknown language, or no name
 */
export function chosenModels(words: readonly string[], all: boolean): KnownModel[] {
  if (words.length === 0)
    throw new UsageError(`models add needs a language or a model: ringport models add ${modelLanguages().join("|")}`);
  return [
    ...new Set(words.flatMap((word) => (LANGUAGE.test(word) ? modelsOfLanguage(word, all) : [modelNamed(word)]))),
  ];
}

/** Languages of known models: `pt`, `pt-BR`. */
export function modelLanguages(): string[] {
  const tags = KNOWN_MODELS.flatMap(({ languages }) => languages);
  return [...new Set(tags.flatMap((tag) => [tag.slice(0, 2), tag]))].sort();
}

/** Words that choose models: languages and names, each with a description. */
export function knownWords(): (readonly [word: string, description: string])[] {
  const languageRows = modelLanguages().map(
    (word) =>
      [
        word,
        modelsOfLanguage(word, false)
          .map(({ name }) => name)
          .join(", "),
      ] as const,
  );
  return [...languageRows, ...KNOWN_MODELS.map(({ name, languages }) => [name, languages.join(", ")] as const)];
}

function modelsOfLanguage(word: string, all: boolean): KnownModel[] {
  const prefix = word.toLowerCase().replace("_", "-");
  const speaks = ({ languages }: KnownModel): boolean =>
    languages.some((tag) => tag.toLowerCase() === prefix || tag.toLowerCase().startsWith(`${prefix}-`));
  const matches = KNOWN_MODELS.filter(speaks);
  if (matches.length === 0)
    throw new UsageError(
      `no known model speaks "${word}": there are ${modelLanguages().join(", ")}; other models can be added by their name in sherpa-onnx's releases`,
    );
  return all ? matches : matches.filter((model) => matches.find(({ job }) => job === model.job) === model);
}

function modelNamed(name: string): KnownModel {
  const knownModel = KNOWN_MODELS.find((model) => model.name === name);
  if (knownModel) return knownModel;
  if (!isModelName(name) || !/^(vits|kokoro|kitten|sherpa-onnx)-/.test(name))
    throw new UsageError(
      `"${name}" is neither a language nor a model${didYouMean(name, [...KNOWN_MODELS.map((model) => model.name), ...modelLanguages()])}; languages are written like ${modelLanguages().join(", ")}, and ringport models lists models`,
    );
  return { name, job: RECOGNISERS.test(name) ? "recogniser" : "voice", languages: [] };
}
