import type { RingportOptions } from "../../../src/options.ts";
import type { Speech, Voice } from "../../../src/ports/speech.ts";
import type { Transcription } from "../../../src/ports/transcription.ts";
import { modelFolderOf } from "../../defaults/data-folder.ts";
import { embeddedWorkers } from "../../defaults/worker-pool.ts";
import { ENGINE_COMMAND, engineObstacle, enginePackages } from "../../local-models/engine-package.ts";
import { LocalTranscriptionFailed } from "../../local-models/fixable-fault.ts";
import type { ModelFolder } from "../../local-models/model-folder.ts";
import { neuralSpeech } from "../../local-models/neural-speech.ts";
import { neuralTranscription } from "../../local-models/neural-transcription.ts";
import { inspectVoices } from "../../local-models/neural-voices.ts";
import { SpeechProcesses } from "../../local-models/speech-processes.ts";
import { embeddedSpeech } from "../../speech/all-engines.ts";
import { configuredTranscription } from "../../transcription/configured-transcription.ts";
import { broken, type Finding, missing, reasonOf, works } from "./finding.ts";
import {
  ENGINE_FIX,
  localTranscriptionFix,
  type NaturalParts,
  neuralFix,
  obstacleFix,
  voicesFix,
} from "./speech-fixes.ts";

const SPEECH_TIMEOUT_MS = 20_000;

/** Checks the worker threads, the model folder, and each speech engine by speaking a word. */
export async function findSpeech(options: RingportOptions): Promise<Finding[]> {
  const { httpSpeech: http, neural } = options.embedded ?? {};
  const folder = modelFolderOf(options);
  const pool = embeddedWorkers({ size: 1 });
  const processes = new SpeechProcesses();
  const speech = embeddedSpeech({ pool, http, neural: neuralSpeech({ folder, processes, choice: neural?.voices }) });
  try {
    const voices = await speech.voices();
    const { models, fault } = await inspectVoices(folder, neural?.voices);
    const hasModel = models.voices.length > 0;
    const unusedEngines = new Set([...(http ? [] : ["http"]), ...(hasModel ? [] : ["neural"])]);
    const engines: Finding[] = [];
    for (const [engine, fix] of Object.entries(ENGINE_FIX))
      if (!unusedEngines.has(engine)) engines.push(await findEngine(speech, voices, engine, fix));
    const voiceFindings = findVoices(engines, { hasModel, hasEngine: enginePackages().length > 0 });
    return [works("worker threads", "run"), ...modelFindings(models, fault), ...engines, ...voiceFindings];
  } catch (error) {
    const fix = "run it on Node, Bun or Deno without restrictions on worker threads";
    return [broken("worker threads", `do not run: ${reasonOf(error)}`, fix)];
  } finally {
    await speech.close();
    processes.close();
    await pool.close();
  }
}

/** A finding if no engine can speak. */
export function findVoices(engines: readonly Finding[], natural: NaturalParts): Finding[] {
  if (engines.some(({ state }) => state === "works")) return [];
  return [broken("voices", "no engine can speak, only audio files can be played", voicesFix(natural))];
}

/** The models in the folder, and those that cannot be used. */
export function modelFindings(
  { path, voices, recognisers, faults }: ModelFolder,
  fault: string | undefined,
): Finding[] {
  const names = [...voices, ...recognisers].map(({ name }) => name);
  if (names.length + faults.length === 0) {
    const fix = "ringport models lists those to install";
    return [
      missing("speech models", `none in ${path}`, enginePackages().length > 0 ? fix : `${ENGINE_COMMAND}; ${fix}`),
    ];
  }
  const brokenModels = faults.map(({ name, reason }) => missing(`model ${name}`, `cannot be used: ${reason}`));
  const numberingFindings = fault === undefined ? [] : [missing("speech models", fault)];
  return [
    ...(names.length > 0 ? [works("speech models", names.join(", "))] : []),
    ...brokenModels,
    ...numberingFindings,
  ];
}

async function findEngine(speech: Speech, allVoices: readonly Voice[], engine: string, fix: string): Promise<Finding> {
  const name = `speech ${engine}`;
  const voices = allVoices.filter((voice) => voice.engine === engine);
  const [voice] = voices;
  if (!voice) {
    const obstacle = engine === "neural" ? engineObstacle() : undefined;
    return obstacle ? missing(name, obstacle.reason, obstacleFix(obstacle)) : missing(name, "is not installed", fix);
  }
  try {
    const ms = await timeToSpeak(speech, voice.id);
    const languages = new Set(voices.map(({ language }) => language)).size;
    const counts = `${countText(voices.length, "voice")}, ${countText(languages, "language")}`;
    return works(name, `${counts}; ${voice.id} spoke within ${ms} ms`);
  } catch (error) {
    const reason = reasonOf(error);
    // One engine is enough; another finding reports if none works.
    return {
      ...broken(name, `does not speak: ${reason}`, engine === "neural" ? neuralFix(error) : fix),
      essential: false,
    };
  }
}

function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

async function timeToSpeak(speech: Speech, voice: string): Promise<number> {
  const startedAt = performance.now();
  let samples = 0;
  for await (const chunk of speech.speak("One.", voice, AbortSignal.timeout(SPEECH_TIMEOUT_MS)))
    samples += chunk.samples.length;
  if (samples === 0) throw new Error("it produced no audio");
  return Math.round(performance.now() - startedAt);
}

const TRANSCRIPTION_TIMEOUT_MS = 20_000;
const SILENT_FRAMES = 50;
const FRAME_MS = 20;

/** Checks the transcription engine, if one is configured, with a second of silence. */
export async function findTranscription(options: RingportOptions): Promise<Finding[]> {
  const tuning = options.embedded?.transcription;
  if (tuning === undefined) return [];
  const name = `transcripts ${tuning.engine}`;
  const startedAt = performance.now();
  const processes = new SpeechProcesses();
  const folder = modelFolderOf(options);
  const engine = await configuredTranscription(tuning, async () =>
    neuralTranscription(processes, { ...tuning, folder }),
  );
  try {
    const fault = await firstFault(engine);
    if (fault === undefined) return [works(name, `responded within ${Math.round(performance.now() - startedAt)} ms`)];
    throw fault;
  } catch (error) {
    const reason = error instanceof LocalTranscriptionFailed ? error.reason : reasonOf(error);
    const fix =
      tuning.engine === "local"
        ? localTranscriptionFix(error, tuning.language)
        : "check RINGPORT_TRANSCRIPTION_URL, _MODEL and _KEY, and the server there";
    // Calls can be placed without it.
    return [{ ...broken(name, `does not work: ${reason}`, fix), essential: false }];
  } finally {
    await engine.close();
    processes.close();
  }
}

async function firstFault(engine: Transcription): Promise<Error | undefined> {
  const [sampleRate = 16_000] = engine.capabilities.sampleRates;
  const options = { callId: "doctor", speaker: "callee", sampleRate } as const;
  const session = await engine.open(options, AbortSignal.timeout(TRANSCRIPTION_TIMEOUT_MS));
  const silence = new Int16Array((sampleRate * FRAME_MS) / 1_000);
  for (let frame = 0; frame < SILENT_FRAMES; frame++) session.push(silence, frame * FRAME_MS);
  session.commit();
  void session.close();
  for await (const event of session.events) if (event.type === "error") return event.error;
  return undefined;
}
