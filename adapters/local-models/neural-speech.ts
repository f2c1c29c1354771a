import { existsSync } from "node:fs";
import type { PcmChunk } from "../../src/ports/media.ts";
import type { Speech, Voice } from "../../src/ports/speech.ts";
import { engineSpeech } from "../speech/engine-speech.ts";
import type { VoiceId } from "../speech/parse-voice-id.ts";
import { segments } from "../speech/segments.ts";
import { VoiceLost } from "../speech/voice-catalogue.ts";
import { ENGINE_COMMAND, type EngineObstacle, engineObstacle } from "./engine-package.ts";
import { commandToAdd, KNOWN_MODELS } from "./known-models.ts";
import { type NeuralVoiceChoice, NeuralVoices } from "./neural-voices.ts";
import { type SpeechProcesses, TEXTS_AT_ONCE } from "./speech-processes.ts";

/**
 * Maximum length of a slice, characters: a model computes a whole sentence before it returns the first sample, and its
 * memory use grows with the longest sentence.
 */
const SLICE_LENGTH = 120;

/** Options of {@link neuralSpeech}. */
export interface NeuralSpeechOptions {
  /** The model folder. */
  readonly folder: string;
  /** The processes that run the models. The caller closes them. */
  readonly processes: SpeechProcesses;
  /** Additional voices, and voices with another id. */
  readonly choice?: NeuralVoiceChoice | undefined;
}

/** The commands that install a voice of a known model; undefined if none is known. */
export function naturalRemedy(
  processes: SpeechProcesses,
  { tag, number }: VoiceId,
): { readonly commands: string; readonly isExact: boolean } | undefined {
  const exactModel = KNOWN_MODELS.find((model) => model.number === number && model.languages.includes(tag));
  const addCommand = exactModel ? `ringport models add ${exactModel.name}` : commandToAdd("voice", tag);
  if (addCommand === undefined) return undefined;
  const commands = processes.packages().length > 0 ? addCommand : `${ENGINE_COMMAND}, then ${addCommand}`;
  return { commands, isExact: exactModel !== undefined };
}

/** A model folder's voices, which speak in speech processes. Throws a TypeError for a malformed voice id. */
export function neuralSpeech({ folder, processes, choice }: NeuralSpeechOptions): Speech {
  const voices = new NeuralVoices(folder, choice);
  const obstacle = (): EngineObstacle | undefined => engineObstacle(processes.packages());

  async function* speak({ id }: Voice, text: string, signal: AbortSignal): AsyncGenerator<PcmChunk> {
    const { model, speaker, speed, language } = await voices.inputOf(id);
    for (const segment of segments(text, SLICE_LENGTH)) {
      try {
        yield await processes.speak({ model, speaker, speed, language, text: segment }, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (isSilentText(error)) continue;
        // The model has just been removed; the engine's error does not name it.
        if (!existsSync(model.folder)) throw voices.lossError(id);
        throw error;
      }
    }
  }

  const speech = engineSpeech({
    name: "neural",
    atOnce: processes.size * TEXTS_AT_ONCE,
    isLocal: true,
    voices: async () => (obstacle() ? [] : voices.all()),
    async find(id) {
      const voice = await voices.find(id);
      const fault = voice && obstacle();
      if (fault) throw new VoiceLost(`the model of voice ${id.id} cannot speak: the engine ${fault.reason}`, fault.fix);
      return voice;
    },
    speak,
  });
  return { ...speech, sliceLength: SLICE_LENGTH };
}

/** True for the engine's errors about a text that produces no sound. */
function isSilentText(error: unknown): boolean {
  return error instanceof Error && /produced no audio|TTS generation failed/.test(error.message);
}
