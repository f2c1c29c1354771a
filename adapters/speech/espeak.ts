import type { Speech, Voice } from "../../src/ports/speech.ts";
import { engineSpeech } from "./engine-speech.ts";
import { type EspeakMatch, espeakMatch, espeakTags, type LanguagesByTag, languagesByTag } from "./espeak-languages.ts";
import { espeakScripts } from "./espeak-scripts.ts";
import type { InstalledEngines, SpeechWorkers } from "./speech-jobs.ts";

/** The plain voice's number in its id. */
const PLAIN = 9;
/**
 * The plain voice and its variants, by the number in the voice id, which never changes. eSpeak NG ignores unknown
 * variants without an error.
 */
const VARIANTS = byNumber({ [PLAIN]: "", 2: "+f2", 3: "+m3", 4: "+f4", 5: "+m7", 6: "+f5" });
/** Numbers for languages in which 2, 3 and 4 are flite's voices. */
const VARIANTS_BY_TAG = new Map([
  ["en-US", byNumber({ [PLAIN]: "", 12: "+f2", 13: "+m3", 14: "+f4", 5: "+m7", 6: "+f5" })],
]);

function byNumber(variants: Readonly<Record<number, string>>): ReadonlyMap<number, string> {
  return new Map(Object.entries(variants).map(([number, variant]) => [Number(number), variant]));
}

function variantsOf(tag: string): ReadonlyMap<number, string> {
  return VARIANTS_BY_TAG.get(tag) ?? VARIANTS;
}

/** Constructed languages. */
const CONSTRUCTED_LANGUAGES: ReadonlySet<string> = new Set([
  "eo",
  "ia",
  "ie",
  "io",
  "jbo",
  "lfn",
  "py",
  "qdb",
  "qya",
  "sjn",
  "tlh",
  "vo",
]);

/**
 * eSpeak NG: more than a hundred languages, robotic, licensed under the GPL. Runs in the workers and needs the optional
 * package `@echogarden/espeak-ng-emscripten`.
 */
export function espeakSpeech(workers: SpeechWorkers, installedEngines: () => Promise<InstalledEngines>): Speech {
  // Building a catalogue takes tens of milliseconds, during which no call is processed.
  const catalogues = new WeakMap<InstalledEngines, Catalogue>();
  const catalogue = async (): Promise<Catalogue> => {
    const engines = await installedEngines();
    const catalogue = catalogues.get(engines) ?? catalogueOf(engines);
    catalogues.set(engines, catalogue);
    return catalogue;
  };
  return engineSpeech({
    name: "espeak-ng",
    atOnce: workers.size ?? 2,
    isLocal: true,
    voices: async () => (await catalogue()).voices,
    async find({ tag, number }) {
      const match = espeakMatch((await catalogue()).languages, tag);
      return match && voiceOf(match, tag, number === 1 ? PLAIN : number);
    },
    speak: (voice, text, signal) => workers.run({ kind: "espeak", text, voice: voice.name }, { signal }),
  });
}

/** The installed engine's languages and voices. */
interface Catalogue {
  readonly languages: LanguagesByTag;
  readonly voices: readonly Voice[];
}

function catalogueOf({ espeak = [] }: InstalledEngines): Catalogue {
  const languages = languagesByTag(espeak);
  const voices = espeakTags(languages).flatMap((tag) => {
    const match = espeakMatch(languages, tag);
    return match ? [...variantsOf(tag).keys()].flatMap((number) => voiceOf(match, tag, number) ?? []) : [];
  });
  return { languages, voices };
}

function voiceOf({ identifier, isGeneric }: EspeakMatch, tag: string, number: number): Voice | undefined {
  const variant = variantsOf(tag).get(number);
  if (variant === undefined) return undefined;
  return {
    id: `${tag}-${number}`,
    language: tag,
    engine: "espeak-ng",
    name: identifier + variant,
    quality: "robotic",
    scripts: espeakScripts(tag),
    ...(isGeneric ? { accent: "generic" } : {}),
    ...(isGeneric || variant !== "" || CONSTRUCTED_LANGUAGES.has(languageOf(tag)) ? { isVariant: true } : {}),
  };
}

function languageOf(tag: string): string {
  return tag.slice(0, tag.indexOf("-"));
}
