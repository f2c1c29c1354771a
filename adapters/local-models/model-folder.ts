import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { RecogniserFiles, VoiceFiles } from "./messages.ts";
import { onnxMetadata } from "./onnx-metadata.ts";

/** The models in a folder, one subfolder each. */
export interface ModelFolder {
  readonly path: string;
  readonly voices: readonly VoiceModel[];
  readonly recognisers: readonly RecogniserModel[];
  /** Subfolders that cannot be used. */
  readonly faults: readonly ModelFault[];
}

/** A model that speaks. */
export interface VoiceModel {
  /** Name of the model's folder: `vits-piper-pt_BR-faber-medium`. */
  readonly name: string;
  readonly files: VoiceFiles;
  /** The language in the folder's name, such as `pt-BR`; undefined if the name contains none. */
  readonly language: string | undefined;
  readonly speakers: number;
  /** Size of the model's largest file, bytes. */
  readonly bytes: number;
}

/** A model that recognises speech as it is spoken. */
export interface RecogniserModel {
  readonly name: string;
  readonly files: RecogniserFiles;
  readonly bytes: number;
}

/** A subfolder that cannot be used. */
export interface ModelFault {
  readonly name: string;
  /** The fault and its fix, for an operator. */
  readonly reason: string;
}

type Model = { readonly voice: VoiceModel } | { readonly recogniser: RecogniserModel } | { readonly fault: ModelFault };

/** The language in the name of a voice model: `vits-piper-pt_BR-faber-medium`, `vits-mms-spa`. */
const LANGUAGE = /-([a-z]{2,3})_([A-Z]{2})(?:-|$)/;
const MAX_SPEAKERS = 10_000;

/**
 * The models in a folder's subfolders, in alphabetical order. Files are checked here, because the engine ends its
 * process if it cannot read a file. A folder that does not exist has no models.
 */
export async function readModelFolder(path: string): Promise<ModelFolder> {
  const entries = await readdir(path, { withFileTypes: true }).catch(ignoreMissing);
  const names = entries.filter((entry) => !entry.isFile() && !entry.name.startsWith(".")).map(({ name }) => name);
  const models = await Promise.all(names.sort().map((name) => modelIn(join(path, name))));
  return {
    path,
    voices: models.flatMap((model) => (model && "voice" in model ? [model.voice] : [])),
    recognisers: models.flatMap((model) => (model && "recogniser" in model ? [model.recogniser] : [])),
    faults: models.flatMap((model) => (model && "fault" in model ? [model.fault] : [])),
  };
}

function ignoreMissing(error: NodeJS.ErrnoException): [] {
  if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
  throw error;
}

/** The model in a folder; undefined if it has no model files at all. */
async function modelIn(folder: string): Promise<Model | undefined> {
  const name = basename(folder);
  try {
    const files = new Set(await readdir(folder));
    if (![...files].some((file) => file.endsWith(".onnx") || file.endsWith(".onnx.json"))) return undefined;
    if (files.has("encoder.onnx") || [...files].some((file) => /^encoder[^/]*\.onnx$/.test(file)))
      return { recogniser: await transducer(folder, files) };
    if (files.has("tts.json")) return { voice: await supertonic(folder, files) };
    if (files.has("voices.bin")) return { voice: await kokoro(folder, files) };
    if (name.startsWith("sherpa-onnx-streaming-")) return { recogniser: await ctc(folder, files) };
    return { voice: await vits(folder, files) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return undefined;
    return { fault: { name, reason: (error as Error).message } };
  }
}

async function vits(folder: string, files: ReadonlySet<string>): Promise<VoiceModel> {
  const model = modelFile(files);
  const metadata = await onnxMetadata(join(folder, model)).catch(fileError(model));
  const [rate, speakers] = [Number(metadata.get("sample_rate")), Number(metadata.get("n_speakers"))];
  if (!(rate > 0) || !(speakers >= 0 && speakers <= MAX_SPEAKERS))
    throw new Error(
      `${model} has no metadata of sherpa-onnx: a voice as published by Piper does not work; use the archive of the same name from sherpa-onnx's releases`,
    );
  const paths = {
    model: join(folder, model),
    tokens: await checkedPath(folder, files, "tokens.txt"),
    ...optionalPaths(folder, files, { dataDir: "espeak-ng-data", lexicon: "lexicon.txt" }),
  };
  // "piper" and "coqui" voices that use phonemes need a dictionary.
  if (metadata.get("comment") === "piper" && !("dataDir" in paths))
    throw new Error("espeak-ng-data is missing; unpack the whole archive");
  return voiceModel(folder, "vits", paths, Math.max(1, speakers));
}

async function kokoro(folder: string, files: ReadonlySet<string>): Promise<VoiceModel> {
  const model = modelFile(files);
  const kind = /kitten/i.test(basename(folder)) ? "kitten" : "kokoro";
  const metadata = await onnxMetadata(join(folder, model)).catch(fileError(model));
  const lexicons = [...files].filter((file) => /^lexicon.*\.txt$/.test(file)).sort();
  const paths = {
    model: join(folder, model),
    voices: await checkedPath(folder, files, "voices.bin"),
    tokens: await checkedPath(folder, files, "tokens.txt"),
    ...optionalPaths(folder, files, { dataDir: "espeak-ng-data" }),
    ...(kind === "kokoro" && lexicons.length > 0
      ? { lexicon: lexicons.map((file) => join(folder, file)).join(",") }
      : {}),
  };
  return voiceModel(folder, kind, paths, Math.max(1, Number(metadata.get("n_speakers")) || 1));
}

async function supertonic(folder: string, files: ReadonlySet<string>): Promise<VoiceModel> {
  const pathOfPart = async (part: string): Promise<string> => {
    const file = preferredFile(files, new RegExp(`^${part}[^/]*\\.onnx$`));
    if (file === undefined) throw new Error(`${part}.onnx is missing; unpack the whole archive`);
    return checkedPath(folder, files, file);
  };
  const paths = {
    durationPredictor: await pathOfPart("duration_predictor"),
    textEncoder: await pathOfPart("text_encoder"),
    vectorEstimator: await pathOfPart("vector_estimator"),
    vocoder: await pathOfPart("vocoder"),
    ttsJson: await checkedPath(folder, files, "tts.json"),
    unicodeIndexer: await checkedPath(folder, files, "unicode_indexer.bin"),
    voiceStyle: await checkedPath(folder, files, "voice.bin"),
  };
  return voiceModel(folder, "supertonic", paths, 10);
}

async function voiceModel(
  folder: string,
  kind: VoiceFiles["kind"],
  paths: VoiceFiles["paths"],
  speakers: number,
): Promise<VoiceModel> {
  const name = basename(folder);
  const [, language, region] = LANGUAGE.exec(name) ?? [];
  return {
    name,
    files: { kind, folder, paths },
    language: language && region ? `${language}-${region}` : undefined,
    speakers,
    bytes: await largestSize(Object.values(paths)),
  };
}

async function transducer(folder: string, files: ReadonlySet<string>): Promise<RecogniserModel> {
  const part = async (name: string): Promise<string> => {
    const file = preferredFile(files, new RegExp(`^${name}[^/]*\\.onnx$`));
    if (file === undefined) throw new Error(`the ${name} is missing; unpack the whole archive`);
    await onnxMetadata(join(folder, file)).catch(fileError(file));
    return checkedPath(folder, files, file);
  };
  const paths = { encoder: await part("encoder"), decoder: await part("decoder"), joiner: await part("joiner") };
  return recogniserModel(folder, files, "transducer", paths);
}

async function ctc(folder: string, files: ReadonlySet<string>): Promise<RecogniserModel> {
  const model = modelFile(files);
  await onnxMetadata(join(folder, model)).catch(fileError(model));
  const name = basename(folder);
  const kind = /t-one/.test(name) ? "toneCtc" : /nemo/.test(name) ? "nemoCtc" : "zipformer2Ctc";
  return recogniserModel(folder, files, kind, { model: await checkedPath(folder, files, model) });
}

async function recogniserModel(
  folder: string,
  files: ReadonlySet<string>,
  kind: RecogniserFiles["kind"],
  paths: RecogniserFiles["paths"],
): Promise<RecogniserModel> {
  const tokens = await checkedPath(folder, files, "tokens.txt");
  return {
    name: basename(folder),
    files: { kind, folder, tokens, paths },
    bytes: await largestSize(Object.values(paths)),
  };
}

/** The only model file; if there are several, the one with 8-bit integers. */
function modelFile(files: ReadonlySet<string>): string {
  const file = preferredFile(files, /\.onnx$/);
  if (file === undefined) throw new Error("the .onnx file is missing; unpack the whole archive");
  return file;
}

/** Prefers 8-bit integers, which take a quarter of the memory and less time. */
function preferredFile(files: ReadonlySet<string>, pattern: RegExp): string | undefined {
  const matches = [...files].filter((file) => pattern.test(file)).sort();
  return matches.find((file) => file.includes("int8")) ?? matches[0];
}

async function checkedPath(folder: string, files: ReadonlySet<string>, file: string): Promise<string> {
  const path = join(folder, file);
  if (!files.has(file)) throw new Error(`${file} is missing; unpack the whole archive`);
  const { size } = await stat(path);
  if (size === 0) throw new Error(`${file} is empty; unpack the archive again`);
  return path;
}

/** Paths of the files that exist. */
function optionalPaths(
  folder: string,
  files: ReadonlySet<string>,
  names: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(names).flatMap(([key, file]) => (files.has(file) ? [[key, join(folder, file)]] : [])),
  );
}

async function largestSize(paths: readonly string[]): Promise<number> {
  const sizes = await Promise.all(paths.map(async (path) => (await stat(path).catch(() => ({ size: 0 }))).size));
  return Math.max(...sizes);
}

function fileError(file: string): (error: Error) => never {
  return (error) => {
    throw new Error(`${file}: ${error.message}; unpack the archive again`, { cause: error });
  };
}
