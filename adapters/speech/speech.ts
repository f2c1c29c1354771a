import { createHash } from "node:crypto";
import type { PcmChunk } from "../../src/ports/media.ts";
import { NothingToSpeak, type Speech, SpeechFailed, VoiceUnavailable } from "../../src/ports/speech.ts";
import type { SpeechEngine } from "./engine.ts";
import { espeakEngine } from "./espeak.ts";
import { fliteEngine } from "./flite.ts";
import { type HttpSpeechOptions, httpEngine } from "./http-speech.ts";
import { installedEngines } from "./installed-engines.ts";
import { LeadingSilence } from "./leading-silence.ts";
import { SpeechCache } from "./speech-cache.ts";
import type { SpeechWorkers } from "./speech-jobs.ts";
import { LONGEST_TEXT } from "./speech-limits.ts";
import { visibleText } from "./visible-text.ts";
import { type ConfiguredVoice, type SpokenVoice, VoiceCatalogue } from "./voice-catalogue.ts";

/** Options of {@link embeddedSpeech}. */
export interface EmbeddedSpeechOptions {
  /** Where flite and eSpeak NG speak, if they are installed; without it, neither takes part. It stays the caller's. */
  readonly pool?: SpeechWorkers | undefined;
  /** A speech server. */
  readonly http?: HttpSpeechOptions | undefined;
  /** Which engine's voice stands behind a voice id; comes before everything else. */
  readonly voices?: Readonly<Record<string, ConfiguredVoice>> | undefined;
  /** Bytes of rendered speech that are kept for the next time. Default 64 MiB; 0 keeps none. */
  readonly cacheBytes?: number | undefined;
}

const DEFAULT_CACHE_BYTES = 64 * 1024 * 1024;

/**
 * Speech from the engines that are there: a speech server, eSpeak NG, flite.
 *
 * The same text in the same voice is spoken once and then played from memory, also while it is still being spoken.
 * Closing it leaves the worker pool open. Throws a TypeError for a configuration that cannot be right.
 */
export function embeddedSpeech({ pool, http, voices = {}, cacheBytes }: EmbeddedSpeechOptions): Speech {
  const engines: SpeechEngine[] = [];
  if (http) engines.push(httpEngine(http));
  if (pool) {
    const installed = installedEngines(pool);
    engines.push(espeakEngine(pool, installed), fliteEngine(pool, installed));
  }
  const catalogue = new VoiceCatalogue(engines, voices);
  const cache = new SpeechCache(cacheBytes ?? DEFAULT_CACHE_BYTES);
  const closing = new AbortController();

  async function* speak(text: string, voiceId: string, signal: AbortSignal): AsyncGenerator<PcmChunk, void> {
    signal.throwIfAborted();
    if (closing.signal.aborted) throw new SpeechFailed("The speech has been closed.");
    const characters = charactersOf(text);
    if (characters > LONGEST_TEXT) {
      throw new SpeechFailed(`The text has ${characters} characters; at most ${LONGEST_TEXT} can be spoken.`);
    }
    const spoken = await catalogue.voice(voiceId).catch(asSpeechFailed);
    const said = visibleText(text);
    if (said === "") throw new NothingToSpeak("There is nothing in the text to speak.");
    const both = AbortSignal.any([signal, closing.signal]);
    const render = (stop: AbortSignal): AsyncIterable<PcmChunk> => rendered(spoken, said, stop);
    try {
      yield* cache.speech(keyOf(spoken, said), render, both);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof SpeechFailed) throw error;
      throw new SpeechFailed("The speech has been closed.", { cause: error });
    }
  }

  const places = pool?.size ?? 2;
  return {
    speak,
    atOnce: { http: http?.atOnce ?? 4, "espeak-ng": places, flite: places },
    voices: () => catalogue.all(),
    voice: async (voiceId) => (await catalogue.voice(voiceId)).voice,
    async warmUp() {
      try {
        for (const id of await warmingVoices(catalogue)) {
          for await (const _ of speak("Hello.", id, closing.signal)) break;
        }
      } catch {
        // A failure shows when somebody wants to hear something.
      }
    },
    async close() {
      closing.abort();
      cache.clear();
    },
  };
}

/** One voice of each engine that runs in this process, so that its code is loaded and compiled. */
async function warmingVoices(catalogue: VoiceCatalogue): Promise<readonly string[]> {
  const byEngine = new Map<string, string>();
  for (const { id, engine } of await catalogue.all()) {
    if (engine !== "http" && !byEngine.has(engine)) byEngine.set(engine, id);
  }
  return [...byEngine.values()];
}

/** Speaks without the cache. Throws {@link SpeechFailed}. */
async function* rendered(spoken: SpokenVoice, text: string, signal: AbortSignal): AsyncGenerator<PcmChunk, void> {
  let opening: LeadingSilence | undefined;
  let heard = false;
  try {
    for await (const { sampleRate, samples } of spoken.engine.speak(spoken.engineVoice, text, signal)) {
      opening ??= new LeadingSilence(sampleRate);
      const audible = opening.push(samples);
      if (audible.length === 0) continue;
      heard = true;
      yield { sampleRate, samples: audible };
    }
  } catch (error) {
    throw new SpeechFailed(error instanceof Error ? error.message : String(error), { cause: error });
  }
  if (!heard) throw new NothingToSpeak(`Voice ${spoken.voice.id} found nothing in the text that it can speak.`);
}

/** Code points, as at the creation of a call, where an emoji is one; a text that is too long in any case is not counted. */
function charactersOf(text: string): number {
  return text.length > 2 * LONGEST_TEXT ? text.length : [...text].length;
}

function keyOf({ engineVoice }: SpokenVoice, text: string): string {
  const { engine, name, model, speed, language } = engineVoice;
  return createHash("sha256")
    .update(JSON.stringify([engine, name, model, speed, language, text]))
    .digest("base64url");
}

function asSpeechFailed(error: unknown): never {
  if (error instanceof VoiceUnavailable) throw error;
  throw new SpeechFailed(error instanceof Error ? error.message : String(error), { cause: error });
}
