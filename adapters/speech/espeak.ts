import type { EngineVoice, SpeechEngine } from "./engine.ts";
import { espeakMatch, espeakTags } from "./espeak-languages.ts";
import type { EspeakLanguage, InstalledEngines, SpeechWorkers } from "./speech-jobs.ts";

/** By number in the voice id: the plain voice, then variants. Others would be taken without an error, and ignored. */
const VARIANTS = ["", "+f2", "+m3", "+f4", "+m7", "+f5"] as const;

/**
 * eSpeak NG: more than a hundred languages, robotic, licensed under the GPL. Speaks in the workers, from the optional
 * package `@echogarden/espeak-ng-emscripten`.
 */
export function espeakEngine(workers: SpeechWorkers, installed: () => Promise<InstalledEngines>): SpeechEngine {
  const languages = async (): Promise<readonly EspeakLanguage[]> => (await installed()).espeak ?? [];
  return {
    name: "espeak-ng",
    async available() {
      return (await installed()).espeak !== undefined;
    },
    async list() {
      const known = await languages();
      return espeakTags(known).flatMap((tag) =>
        VARIANTS.flatMap((_, index) => {
          const voice = voiceOf(known, tag, index + 1);
          return voice ? [[`${tag}-${index + 1}`, voice] as const] : [];
        }),
      );
    },
    async find({ tag, number }) {
      return voiceOf(await languages(), tag, number);
    },
    async named(name) {
      const [language = "", variant] = name.split("+");
      const known = await languages();
      const identifier =
        known.find((candidate) => candidate.identifier === language)?.identifier ??
        espeakMatch(known, language)?.identifier;
      const suffix = VARIANTS.find((candidate) => candidate === (variant === undefined ? "" : `+${variant}`));
      if (identifier === undefined || suffix === undefined) return undefined;
      return { engine: "espeak-ng", name: identifier + suffix, quality: "robotic" };
    },
    speak: (voice, text, signal) => workers.run({ kind: "espeak", text, voice: voice.name }, { signal }),
  };
}

function voiceOf(languages: readonly EspeakLanguage[], tag: string, number: number): EngineVoice | undefined {
  const variant = VARIANTS[number - 1];
  const match = variant === undefined ? undefined : espeakMatch(languages, tag);
  if (match === undefined) return undefined;
  const name = match.identifier + variant;
  return { engine: "espeak-ng", name, quality: "robotic", ...(match.generic ? { accent: "generic" } : {}) };
}
