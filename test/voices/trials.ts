import { KNOWN_MODELS } from "../../adapters/local-models/known-models.ts";
import { SENTENCES } from "./sentences.ts";

/** A voice to measure. */
export interface Trial {
  readonly voiceId: string;
  /** Engine of the trial, and the name of its model. */
  readonly engine: string;
  readonly model: string;
  /** Language of the recogniser: `pt`. */
  readonly language: string;
  /** Name of the recogniser. */
  readonly recogniser: string;
  readonly sentences: readonly string[];
}

/** What is installed, and what the user asks for. */
export interface TrialInput {
  readonly voices: readonly {
    readonly id: string;
    readonly language: string;
    readonly engine: string;
    readonly name: string;
    /** Permanent id of the voice that the id is an alias of, such as `pt-BR-20` for `pt-BR-1`. */
    readonly aliasOf?: string | undefined;
  }[];
  /** Names of the installed recognisers. */
  readonly recognisers: readonly string[];
  /** The recogniser of the user's choice (`RINGPORT_TRANSCRIPTION_MODEL`). */
  readonly recogniser?: string | undefined;
  /** Ids of the user's choice. Default: natural voices, and the embedded voices of their languages. */
  readonly voiceIds?: readonly string[] | undefined;
  /** Sentences of the user's choice. Default: ten in the language of each voice. */
  readonly sentences?: readonly string[] | undefined;
}

/** The voices to measure, and why others are not. */
export interface Trials {
  readonly trials: readonly Trial[];
  readonly skipped: readonly string[];
}

/** The engine of the model folder's voices. */
const NATURAL = "neural";
/** Numbers of flite's and eSpeak NG's plain voices: the baseline. */
const BASELINE = /-[79]$/;

/** Plans the trials: natural voices first, by id, and then the embedded voices as their baseline. */
export function planTrials(input: TrialInput): Trials {
  const skipped: string[] = [];
  const trials = chosenVoices(input, skipped).flatMap(({ id, language: tag, engine, name }): Trial[] => {
    const language = tag.slice(0, tag.indexOf("-"));
    const recogniser = recogniserOf(language, input);
    const sentences = input.sentences ?? SENTENCES.get(language);
    if (recogniser === undefined)
      skipped.push(`${id}: no installed recogniser supports "${language}"; ringport models lists those to install`);
    else if (sentences === undefined)
      skipped.push(`${id}: there are no sentences in "${language}"; name your own file with --sentences FILE`);
    else return [{ voiceId: id, engine, model: name, language, recogniser, sentences }];
    return [];
  });
  return { trials, skipped };
}

function chosenVoices({ voices, voiceIds }: TrialInput, skipped: string[]): TrialInput["voices"] {
  if (voiceIds !== undefined)
    return voiceIds.flatMap((id) => {
      const voice = voices.find((voice) => voice.id === id);
      if (voice === undefined) skipped.push(`${id}: there is no such voice; ringport voices lists them`);
      return voice ?? [];
    });
  const natural = voices.filter(({ engine, aliasOf }) => engine === NATURAL && aliasOf === undefined);
  const languages = new Set(natural.map(({ language }) => language));
  const baseline = voices.filter(
    ({ id, language, engine }) => engine !== NATURAL && BASELINE.test(id) && languages.has(language),
  );
  return [...natural, ...baseline];
}

/**
 * The recogniser for a language: the user's, else a known model of the language, else one that is not a known model.
 */
function recogniserOf(language: string, { recogniser, recognisers }: TrialInput): string | undefined {
  if (recogniser !== undefined) return recognisers.find((name) => name === recogniser);
  const languagesOf = (name: string): readonly string[] | undefined =>
    KNOWN_MODELS.find((model) => model.name === name)?.languages;
  return (
    recognisers.find((name) => languagesOf(name)?.includes(language)) ??
    recognisers.find((name) => languagesOf(name) === undefined)
  );
}
