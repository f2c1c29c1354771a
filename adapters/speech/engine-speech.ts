import type { PcmChunk } from "../../src/ports/media.ts";
import { type Speech, type Voice, VoiceUnavailable } from "../../src/ports/speech.ts";
import { parseVoiceId, type VoiceId } from "./parse-voice-id.ts";

/** Names of the built-in engines; `http` is a speech server. */
export type EngineName = "http" | "neural" | "flite" | "espeak-ng";

/** A built-in engine. */
export interface Engine {
  readonly name: EngineName;
  /** Number of texts that the engine speaks concurrently. */
  readonly atOnce: number;
  /** True if the engine runs on this machine, so that its code is loaded before the first call. */
  readonly isLocal: boolean;
  /** The voices that currently work. */
  voices(): Promise<readonly Voice[]>;
  /**
   * The voice with this id, even if {@link voices} does not list it; for number 1, the language's best voice, under its
   * own id. Undefined if there is none.
   */
  find(id: VoiceId): Promise<Voice | undefined>;
  /** Speaks a text. Throws an Error with a message for users, or the signal's reason when aborted. */
  speak(voice: Voice, text: string, signal: AbortSignal): AsyncIterable<PcmChunk>;
}

/** An engine as a `Speech`, for `joinSpeech`, which checks texts and wraps errors. */
export function engineSpeech(engine: Engine): Speech {
  const closeScope = new AbortController();

  async function voice(voiceId: string): Promise<Voice> {
    const id = parseVoiceId(voiceId);
    const match = id && (await engine.find(id));
    if (match) return match;
    throw new VoiceUnavailable(`voice ${voiceId} is not available from ${engine.name}`);
  }

  return {
    atOnce: { [engine.name]: engine.atOnce },
    voices: () => engine.voices(),
    voice,
    async *speak(text, voiceId, signal) {
      yield* engine.speak(await voice(voiceId), text, signal);
    },
    async warmUp() {
      if (!engine.isLocal) return;
      try {
        const [first] = await engine.voices();
        if (first) for await (const _ of engine.speak(first, "Hello.", closeScope.signal)) break;
      } catch {
        // A call's first text reports the failure.
      }
    },
    async close() {
      closeScope.abort();
    },
  };
}
