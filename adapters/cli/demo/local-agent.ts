import type { EmbeddedTuning } from "../../../src/options.ts";
import type { Voice } from "../../../src/ports/speech.ts";
import { embeddedWorkers } from "../../defaults/worker-pool.ts";
import { engineObstacle } from "../../local-models/engine-package.ts";
import { KNOWN_MODELS } from "../../local-models/known-models.ts";
import { type ModelFolder, readModelFolder } from "../../local-models/model-folder.ts";
import { neuralSpeech } from "../../local-models/neural-speech.ts";
import { SpeechProcesses } from "../../local-models/speech-processes.ts";
import { embeddedSpeech } from "../../speech/all-engines.ts";
import { broken, type Finding, reasonOf } from "../doctor/finding.ts";
import { addFix, obstacleFix } from "../doctor/speech-fixes.ts";
import { type FindOptions, findLanguageModel, type LanguageModel, type ModelChoice } from "./language-model.ts";

/** The operator's choices; undefined ones are detected. */
export interface LocalChoice {
  readonly embedded: EmbeddedTuning;
  /** Absolute path of the model folder. */
  readonly folder: string;
  readonly languageModel: ModelChoice;
  /** Name of the recogniser. */
  readonly recogniser?: string | undefined;
  /** Language of the speech, for multilingual recognisers. */
  readonly language?: string | undefined;
  readonly voiceId?: string | undefined;
}

/** The parts of an agent that needs no account; all are present. */
export interface LocalAgent {
  readonly embedded: EmbeddedTuning;
  readonly voice: Voice;
  readonly recogniser: string;
  readonly languageModel: LanguageModel;
}

/** Languages that simulated callees speak. */
const CALLEE_LANGUAGES = ["en", "pt", "es"];

/** Finds the parts of a local agent; if any are missing, returns a finding for each. */
export async function findLocalAgent(
  choice: LocalChoice,
  options?: FindOptions,
): Promise<LocalAgent | readonly Finding[]> {
  const [languageModel, { voice, recogniser, findings }] = await Promise.all([
    findLanguageModel(choice.languageModel, options),
    findSpeech(choice),
  ]);
  if ("state" in languageModel) return [...findings, languageModel];
  if (voice === undefined || recogniser === undefined || findings.length > 0) return findings;
  const { embedded, folder, language } = choice;
  return {
    embedded: {
      ...embedded,
      neural: { ...embedded.neural, models: folder },
      agent: { ...embedded.agent, ...languageModel, engine: "cascade", apiKey: choice.languageModel.apiKey },
      transcription: { engine: "local", model: recogniser, language },
      simulatorVoiceId:
        embedded.simulatorVoiceId ?? (CALLEE_LANGUAGES.includes(languageOf(voice.language)) ? voice.id : undefined),
    },
    voice,
    recogniser,
    languageModel,
  };
}

/** Finds the recogniser and the voice. */
async function findSpeech(choice: LocalChoice): Promise<{
  readonly voice?: Voice | undefined;
  readonly recogniser?: string | undefined;
  readonly findings: readonly Finding[];
}> {
  const { folder, voiceId } = choice;
  const obstacle = engineObstacle();
  const engineFindings = obstacle ? [broken("engine", obstacle.reason, obstacleFix(obstacle))] : [];
  const [models, voices] = await Promise.all([readModelFolder(folder), voicesOf(choice).catch(reasonOf)]);
  if (typeof voices === "string") return { findings: [...engineFindings, broken("voice", voices, "ringport doctor")] };
  const voice = voiceId === undefined ? bestOf(voices) : voices.find(({ id }) => id === voiceId);
  const tag = voice?.language ?? voiceId?.replace(/-\d+$/, "") ?? "en-US";
  // Without a usable engine, the models' voices are not listed.
  const isVoiceMissing = voice === undefined && (engineFindings.length === 0 || models.voices.length === 0);
  const detail = voiceId === undefined ? "none is installed" : `${voiceId} is not installed`;
  const voiceFindings = isVoiceMissing ? [broken("voice", detail, addFix("voice", tag))] : [];
  const recogniser = recogniserOf(models, choice.recogniser, tag);
  const isFound = typeof recogniser === "string";
  return {
    voice,
    recogniser: isFound ? recogniser : undefined,
    findings: [...engineFindings, ...voiceFindings, ...(isFound ? [] : [recogniser])],
  };
}

/** All voices on this machine and on the configured speech server. */
async function voicesOf({ embedded, folder }: LocalChoice): Promise<readonly Voice[]> {
  const pool = embeddedWorkers({ size: 1 });
  const processes = new SpeechProcesses();
  const neural = neuralSpeech({ folder, processes, choice: embedded.neural?.voices });
  const speech = embeddedSpeech({ pool, neural, http: embedded.httpSpeech });
  try {
    return await speech.voices();
  } finally {
    await speech.close();
    processes.close();
    await pool.close();
  }
}

/** The preferred voice: natural voices first, and English ones among equals. */
function bestOf(voices: readonly Voice[]): Voice | undefined {
  const natural = voices.filter(({ quality }) => quality === "natural");
  for (const candidates of [natural, voices])
    for (const id of ["en-US-1", "en-GB-1", candidates[0]?.id]) {
      const voice = candidates.find((voice) => voice.id === id);
      if (voice) return voice;
    }
  return undefined;
}

/** The name of the recogniser for a language; if there is none, a finding. @param tag such as `pt-BR` */
function recogniserOf(
  { path, recognisers, faults }: ModelFolder,
  chosenName: string | undefined,
  tag: string,
): string | Finding {
  const missingRecogniser = (detail: string): Finding => broken("recogniser", detail, addFix("recogniser", tag));
  const names = recognisers.map(({ name }) => name);
  const installedNames = names.join(", ") || "none";
  if (chosenName !== undefined)
    return names.includes(chosenName)
      ? chosenName
      : missingRecogniser(`${chosenName} is not in ${path} (installed: ${installedNames})`);
  const match = names.find((name) => languagesOf(name)?.includes(languageOf(tag)) ?? true);
  if (match !== undefined) return match;
  if (names.length > 0) return missingRecogniser(`the recognisers in ${path} do not support ${tag}: ${installedNames}`);
  const unusable = faults.map(({ name, reason }) => `; ${name} cannot be used: ${reason}`);
  return missingRecogniser(`there is none in ${path}${unusable.join("")}`);
}

/** Languages of a recogniser; undefined for an unknown recogniser. */
function languagesOf(name: string): readonly string[] | undefined {
  return KNOWN_MODELS.find((model) => model.name === name)?.languages;
}

/** The language of a tag. */
function languageOf(tag: string): string {
  return tag.split("-", 1)[0] ?? tag;
}
