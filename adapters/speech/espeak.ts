import type { Speech, Voice } from "../../src/ports/speech.ts";
import { engineSpeech } from "./engine-speech.ts";
import { type EspeakMatch, espeakMatch, espeakTags, type LanguagesByTag, languagesByTag } from "./espeak-languages.ts";
import { espeakScripts } from "./espeak-scripts.ts";
import type { InstalledEngines, SpeechWorkers } from "./speech-jobs.ts";

/** By number in the voice id: the plain voice, then variants. eSpeak NG ignores unknown variants without an error. */
const VARIANTS = ["", "+f2", "+m3", "+f4", "+m7", "+f5"] as const;

/**
 * eSpeak NG: more than a hundred languages, robotic, licensed under the GPL. Runs in the workers, from the optional
 * package `@echogarden/espeak-ng-emscripten`.
 */
export function espeakSpeech(workers: SpeechWorkers, installed: () => Promise<InstalledEngines>): Speech {
  // Building a catalogue takes tens of milliseconds, in which no call is processed.
  const catalogues = new WeakMap<InstalledEngines, Catalogue>();
  const catalogue = async (): Promise<Catalogue> => {
    const engines = await installed();
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
      return match && voiceOf(match, tag, number);
    },
    speak: (voice, text, signal) => workers.run({ kind: "espeak", text, voice: voice.name }, { signal }),
  });
}

/** Languages and voices of the installed engine. */
interface Catalogue {
  readonly languages: LanguagesByTag;
  readonly voices: readonly Voice[];
}

function catalogueOf({ espeak = [] }: InstalledEngines): Catalogue {
  const languages = languagesByTag(espeak);
  const voices = espeakTags(languages).flatMap((tag) => {
    const match = espeakMatch(languages, tag);
    return match
      ? VARIANTS.map((_, index) => voiceOf(match, tag, index + 1)).filter((voice) => voice !== undefined)
      : [];
  });
  return { languages, voices };
}

function voiceOf({ identifier, isGeneric }: EspeakMatch, tag: string, number: number): Voice | undefined {
  const variant = VARIANTS[number - 1];
  if (variant === undefined) return undefined;
  return {
    id: `${tag}-${number}`,
    language: tag,
    engine: "espeak-ng",
    name: identifier + variant,
    quality: "robotic",
    scripts: espeakScripts(tag),
    ...(isGeneric ? { accent: "generic" } : {}),
  };
}
