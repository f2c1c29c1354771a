import type { Speech, Voice } from "../../src/ports/speech.ts";
import { engineSpeech } from "./engine-speech.ts";
import { espeakMatch, espeakTags } from "./espeak-languages.ts";
import type { EspeakLanguage, InstalledEngines, SpeechWorkers } from "./speech-jobs.ts";

/** By number in the voice id: the plain voice, then variants. eSpeak NG ignores unknown variants without an error. */
const VARIANTS = ["", "+f2", "+m3", "+f4", "+m7", "+f5"] as const;

/**
 * eSpeak NG: more than a hundred languages, robotic, licensed under the GPL. Runs in the workers, from the optional
 * package `@echogarden/espeak-ng-emscripten`.
 */
export function espeakSpeech(workers: SpeechWorkers, installed: () => Promise<InstalledEngines>): Speech {
  const languages = async (): Promise<readonly EspeakLanguage[]> => (await installed()).espeak ?? [];
  return engineSpeech({
    name: "espeak-ng",
    atOnce: workers.size ?? 2,
    isLocal: true,
    async voices() {
      const known = await languages();
      return espeakTags(known).flatMap((tag) =>
        VARIANTS.map((_, index) => voiceOf(known, tag, index + 1)).filter((voice) => voice !== undefined),
      );
    },
    find: async ({ tag, number }) => voiceOf(await languages(), tag, number),
    speak: (voice, text, signal) => workers.run({ kind: "espeak", text, voice: voice.name }, { signal }),
  });
}

function voiceOf(languages: readonly EspeakLanguage[], tag: string, number: number): Voice | undefined {
  const variant = VARIANTS[number - 1];
  const match = variant === undefined ? undefined : espeakMatch(languages, tag);
  if (match === undefined) return undefined;
  return {
    id: `${tag}-${number}`,
    language: tag,
    engine: "espeak-ng",
    name: match.identifier + variant,
    quality: "robotic",
    ...(match.generic ? { accent: "generic" } : {}),
  };
}
