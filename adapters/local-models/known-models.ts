/**
 * A model from sherpa-onnx's releases that Ringport recommends. Ringport has not tested it; sizes are as stated by the
 * publishers.
 */
export interface KnownModel {
  /** Name of the model's archive and folder. */
  readonly name: string;
  readonly job: "voice" | "recogniser";
  /** Languages: `pt-BR` for a voice, `pt` for a recogniser. */
  readonly languages: readonly string[];
  /** Number in a voice's id; it never changes. */
  readonly number?: number;
  /** Approximate size of the archive, MB; undefined if unknown. */
  readonly megabytes?: number | undefined;
  /** Approximate memory of a speech process with the model, MB; undefined if unknown. */
  readonly memoryMb?: number | undefined;
  /** SPDX identifier; undefined if unknown, in which case the model's card decides. */
  readonly licence?: string | undefined;
}

/** Licence of the engine and its packages. */
export const ENGINE_LICENCE = "Apache-2.0; its packages contain eSpeak NG, GPL-3";

/** Memory of a process with a voice of each quality, MB; measured with models of the same architecture. */
const VOICE_MEMORY_MB = { low: undefined, medium: 330, high: 370 } as const;
const VOICE_MEGABYTES: ReadonlyMap<string, number> = new Map([["pt_BR-faber-medium", 63]]);

/**
 * Known models; the first one for each language is recommended. Voice ids keep these numbers permanently: a number is
 * never given to another voice.
 */
export const KNOWN_MODELS: readonly KnownModel[] = [
  ...voices("pt-BR", {
    20: "faber-medium",
    21: "cadu-medium",
    22: "jeff-medium",
    23: "edresson-low",
    24: "miro-high",
    25: "dii-high",
  }),
  ...voices("es-ES", { 20: "davefx-medium", 21: "sharvard-medium" }),
  ...voices("es-MX", { 20: "claude-high", 21: "ald-medium" }),
  ...voices("es-AR", { 20: "daniela-high" }),
  ...voices("en-US", { 20: "lessac-medium", 21: "amy-medium", 22: "ryan-medium" }),
  {
    name: "sherpa-onnx-streaming-zipformer-en-20M-2023-02-17",
    job: "recogniser",
    languages: ["en"],
    licence: "Apache-2.0",
  },
  {
    name: "sherpa-onnx-nemotron-3.5-asr-streaming-0.6b-560ms-int8-2026-06-11",
    job: "recogniser",
    languages: ["pt", "es", "en"],
    megabytes: 650,
    memoryMb: 1_200,
  },
];

/**
 * The command that installs a known model for a language; undefined if none is known. Only a language without a region
 * adds a recogniser. @param tag such as `pt-BR`
 */
export function commandToAdd(job: KnownModel["job"], tag: string): string | undefined {
  const word = job === "recogniser" ? tag.slice(0, 2) : tag;
  const isKnown = KNOWN_MODELS.some((model) => model.job === job && model.languages.includes(word));
  return isKnown ? `ringport models add ${word}` : undefined;
}

/** Piper's voices for a language, by number. */
function voices(
  language: string,
  names: Readonly<Record<number, `${string}-${keyof typeof VOICE_MEMORY_MB}`>>,
): KnownModel[] {
  const folderTag = language.replace("-", "_");
  return Object.entries(names).map(([number, name]) => ({
    name: `vits-piper-${folderTag}-${name}`,
    job: "voice",
    languages: [language],
    number: Number(number),
    megabytes: VOICE_MEGABYTES.get(`${folderTag}-${name}`),
    memoryMb: VOICE_MEMORY_MB[name.slice(name.lastIndexOf("-") + 1) as keyof typeof VOICE_MEMORY_MB],
  }));
}
