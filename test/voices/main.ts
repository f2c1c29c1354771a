// `npm run test:live`: speaks sentences in every installed voice, each in a call on a simulated telephone line, transcribes what
// the callee heard by the installed recogniser, and prints the word error rate of each voice. Exit code: 0 measured, 1 a voice or
// its call failed, 2 there is nothing to measure, or a wrong argument.
import { readFileSync } from "node:fs";
import process from "node:process";
import { parseArgs } from "node:util";
import { MODEL_SETTINGS } from "../../adapters/cli/models/model-place.ts";
import { readSettings } from "../../adapters/cli/settings/read-settings.ts";
import { table } from "../../adapters/cli/terminal/table.ts";
import { DEFAULT_DATA, modelFolder } from "../../adapters/defaults/data-folder.ts";
import { ENGINE_REMEDY, enginePackages } from "../../adapters/local-models/engine-package.ts";
import { readModelFolder } from "../../adapters/local-models/model-folder.ts";
import { errorText } from "../../src/base/error.ts";
import type { EmbeddedTuning } from "../../src/index.ts";
import { ENGINE_FOLDER } from "../support/neural.ts";
import { LINES, type Measurement, measure } from "./measure.ts";
import { Phone } from "./phone.ts";
import { planTrials, type Trial, type TrialInput } from "./trials.ts";
import { wordErrorRate } from "./word-errors.ts";

const NOTHING_TO_MEASURE = 2;

process.exit(await main());

async function main(): Promise<number> {
  let options: LiveOptions;
  try {
    options = readLiveOptions();
  } catch (error) {
    return refuse(errorText(error));
  }
  const { folder, choice, voiceIds, sentences } = options;
  // The engine is searched for in the folder where a program starts; the tests have their own.
  process.chdir(ENGINE_FOLDER);
  if (enginePackages().length === 0) return refuse(`the engine is missing; ${ENGINE_REMEDY}`);
  const models = await readModelFolder(folder);
  for (const { name, reason } of models.faults) report(`${name} cannot be used: ${reason}`);
  const recognisers = models.recognisers.map(({ name }) => name);
  if (models.voices.length === 0 || recognisers.length === 0)
    return refuse(`${folder} has no ${missingModels(models.voices.length, recognisers.length)}`);

  const phone = await Phone.start({ models: folder, voices: choice }, LINES);
  try {
    const { trials, skipped } = planTrials({
      voices: await phone.voices(),
      recognisers,
      recogniser: process.env.RINGPORT_TRANSCRIPTION_MODEL,
      voiceIds,
      sentences,
    });
    for (const reason of skipped) report(`not measured: ${reason}`);
    if (trials.length === 0 || (voiceIds !== undefined && skipped.length > 0))
      return refuse("nothing was measured; see the lines above");
    const measurements = await measure(trials, { phone, folder, report });
    print(trials, measurements);
    return measurements.some(({ fault }) => fault !== undefined) ? 1 : 0;
  } finally {
    await phone.stop();
  }
}

function missingModels(voices: number, recognisers: number): string {
  if (recognisers > 0) return "voice; to install one: ringport models add pt-BR (or en-US, es-ES, …)";
  const missing = voices > 0 ? "recogniser" : "voice and no recogniser";
  return `${missing}; to install ${voices > 0 ? "one" : "both"}: ringport models add pt (or en, es)`;
}

/** Options of a run, from the arguments and settings. */
interface LiveOptions extends Pick<TrialInput, "voiceIds" | "sentences"> {
  /** The model folder. */
  readonly folder: string;
  /** Voices named in the settings. */
  readonly choice: NonNullable<EmbeddedTuning["neural"]>["voices"];
}

/** Reads the arguments and settings. @throws Error one is wrong */
function readLiveOptions(): LiveOptions {
  const options = { voices: { type: "string" }, sentences: { type: "string" } } as const;
  const { voices, sentences } = parseArgs({ options }).values;
  const settings = readSettings(MODEL_SETTINGS, { values: new Map(), operands: [] }, process.env).options;
  const { data = DEFAULT_DATA, embedded } = settings;
  return {
    folder: modelFolder(data, embedded?.neural?.models),
    choice: embedded?.neural?.voices,
    voiceIds: voices?.split(",").map((id) => id.trim()),
    sentences: sentences === undefined ? undefined : sentencesOf(sentences),
  };
}

/** The lines of a file. */
function sentencesOf(file: string): readonly string[] {
  const lines = readFileSync(file, "utf8")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  if (lines.length === 0) throw new Error(`${file} has no sentences: write one on each line`);
  return lines;
}

function print(trials: readonly Trial[], measurements: readonly Measurement[]): void {
  const rows = trials.map((trial): string[] => {
    const { voiceId, engine, model, recogniser } = trial;
    const trialMeasurements = measurements.filter((measurement) => measurement.trial === trial);
    const fault = trialMeasurements.find((measurement) => measurement.fault !== undefined)?.fault;
    const texts = trialMeasurements.flatMap(({ errors }) => errors ?? []);
    const [words, errors] = (["words", "errors"] as const).map((name) =>
      texts.reduce((sum, text) => sum + text[name], 0),
    );
    const rate = `${(100 * wordErrorRate(texts)).toFixed(1)} %`;
    return [
      voiceId,
      engine,
      model,
      recogniser,
      `${words}`,
      `${errors}`,
      fault === undefined ? rate : `failed: ${fault}`,
    ];
  });
  for (const line of table([["VOICE", "ENGINE", "MODEL", "RECOGNISER", "WORDS", "ERRORS", "WORD ERROR RATE"], ...rows]))
    console.log(line);
}

/** Prints progress to standard error, apart from the table. */
function report(line: string): void {
  console.error(line);
}

function refuse(reason: string): number {
  report(`test:live: ${reason}`);
  return NOTHING_TO_MEASURE;
}
