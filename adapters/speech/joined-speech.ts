import { msToSamples } from "../../src/audio/samples/pcm.ts";
import { ConfigurationError, errorText } from "../../src/base/error.ts";
import { within } from "../../src/base/timers.ts";
import type { PcmChunk } from "../../src/ports/media.ts";
import { NothingToSpeak, type Speech, SpeechFailed, type Voice, VoiceUnavailable } from "../../src/ports/speech.ts";
import type { System } from "../../src/ports/system.ts";
import { spokenSegment } from "./segments.ts";
import { SpeechCache } from "./speech-cache.ts";
import { type FoundVoice, type Remedy, VoiceCatalogue } from "./voice-catalogue.ts";

/** Options of {@link joinSpeech}. */
interface JoinedSpeechOptions {
  /** Size of the cache of rendered speech, bytes. Default: 64 MiB; 0 disables it. */
  readonly cacheBytes?: number | undefined;
  /** Advice for a language that no engine speaks. */
  readonly remedy?: Remedy | undefined;
}

const DEFAULT_CACHE_BYTES = 64 * 1024 * 1024;
/** Maximum length of a text, characters. */
const MAX_TEXT_LENGTH = 4096;
/** Time limit for an engine to list its voices when the server starts, ms. */
const LIST_MS = 5_000;

/**
 * Combines several engines into one `Speech` with one catalogue of voices. A voice id is spoken by the first engine
 * that has it.
 *
 * A text is rendered once in each voice and then played from memory, even while the rendering continues. Silence before
 * the first word is shortened. Closing the result closes the engines.
 */
export function joinSpeech(engines: readonly Speech[], options: JoinedSpeechOptions = {}): Speech {
  const remedy = async (): Promise<string> => "add an engine that speaks it (option speech)";
  const catalogue = new VoiceCatalogue(engines, options.remedy ?? remedy);
  const cache = new SpeechCache(options.cacheBytes ?? DEFAULT_CACHE_BYTES);
  const closeScope = new AbortController();

  async function* speak(text: string, voiceId: string, signal: AbortSignal): AsyncGenerator<PcmChunk, void> {
    signal.throwIfAborted();
    if (closeScope.signal.aborted) throw closedError();
    const characters = charactersOf(text);
    if (characters > MAX_TEXT_LENGTH)
      throw new SpeechFailed(`the text has ${characters} characters; the limit is ${MAX_TEXT_LENGTH}`);
    const match = await catalogue.find(voiceId).catch(rethrowAsSpeechFailed);
    const segment = spokenSegment(text);
    if (segment === "") throw new NothingToSpeak("the text contains nothing to speak");
    const key = JSON.stringify([engines.indexOf(match.engine), match.voice.name, ownId(match.voice), segment]);
    const render = (renderSignal: AbortSignal): AsyncIterable<PcmChunk> => renderUncached(match, segment, renderSignal);
    try {
      yield* cache.speech(key, render, AbortSignal.any([signal, closeScope.signal]));
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof SpeechFailed || error instanceof VoiceUnavailable) throw error;
      throw closedError(error);
    }
  }

  return {
    speak,
    atOnce: Object.assign({}, ...[...engines].reverse().map(({ atOnce }) => atOnce)),
    sliceLength(voice) {
      const length = catalogue.engineOf(voice.id)?.sliceLength;
      return typeof length === "function" ? length(voice) : length;
    },
    voices: () => catalogue.all(),
    voice: async (voiceId) => (await catalogue.find(voiceId)).voice,
    async warmUp() {
      // Loaded sequentially, so that one worker loads all engines: a second worker would cost about 100 MB.
      const failures: unknown[] = [];
      for (const engine of engines) await engine.warmUp?.().catch((error: unknown) => failures.push(error));
      if (failures.length > 0) throw failures[0];
    },
    async close() {
      closeScope.abort();
      cache.clear();
      await Promise.all(engines.map((engine) => engine.close()));
    },
  };
}

/**
 * Checks that no voice id is listed twice. An engine that currently cannot list its voices is skipped.
 * @throws {ConfigurationError} naming the id and the engines
 */
export async function assertDistinctVoices(engines: readonly Speech[], system: System): Promise<void> {
  const timeoutError = () => new Error(`a speech engine did not list its voices within ${LIST_MS} ms`);
  const listVoices = async (engine: Speech): Promise<readonly Voice[]> => {
    try {
      return await within(engine.voices(), { system, ms: LIST_MS, timeoutError });
    } catch {
      return [];
    }
  };
  const voiceById = new Map<string, Voice>();
  for (const voice of (await Promise.all(engines.map(listVoices))).flat()) {
    const duplicate = voiceById.get(voice.id);
    if (duplicate)
      throw new ConfigurationError(
        `voice ${voice.id} is listed twice, by the speech engines "${duplicate.engine}" and "${voice.engine}": give each voice its own id`,
      );
    voiceById.set(voice.id, voice);
  }
}

/** Renders speech without the cache. Throws {@link SpeechFailed}. */
async function* renderUncached(
  { voice, engine }: FoundVoice,
  text: string,
  signal: AbortSignal,
): AsyncGenerator<PcmChunk> {
  let leadingSilence: LeadingSilence | undefined;
  let isAudible = false;
  let count = 0;
  try {
    for await (const { sampleRate, samples } of engine.speak(text, ownId(voice), signal)) {
      count += samples.length;
      leadingSilence ??= new LeadingSilence(sampleRate);
      const audibleSamples = leadingSilence.push(samples);
      if (audibleSamples.length === 0) continue;
      isAudible = true;
      yield { sampleRate, samples: audibleSamples };
    }
  } catch (error) {
    rethrowAsSpeechFailed(error);
  }
  if (isAudible) return;
  throw new NothingToSpeak(
    count === 0
      ? `voice ${voice.id} found nothing in the text that it can speak`
      : `voice ${voice.id} spoke the text as silence`,
  );
}

/** A voice's id in its engine. */
function ownId({ id, aliasOf = id }: Voice): string {
  return aliasOf;
}

/**
 * Number of code points: an emoji counts as one, as when a call is created. The number for a much longer text is not
 * exact.
 */
function charactersOf(text: string): number {
  return text.length > 2 * MAX_TEXT_LENGTH ? text.length : [...text].length;
}

function closedError(cause?: unknown): SpeechFailed {
  return new SpeechFailed("the speech is closed", cause === undefined ? undefined : { cause });
}

function rethrowAsSpeechFailed(error: unknown): never {
  if (error instanceof VoiceUnavailable || error instanceof SpeechFailed) throw error;
  throw new SpeechFailed(errorText(error), { cause: error });
}

/**
 * Maximum peak of audio that counts as silence: 46 dB below full scale, above the engines' noise and below any speech.
 */
const MAX_SILENCE_PEAK = 160;
const KEPT_MS = 40;

/**
 * Shortens the silence before the first word to 40 ms. It takes a stream's pieces and returns them shortened: empty
 * during the silence, unchanged after the first sound.
 */
export class LeadingSilence {
  readonly #keptSamples: number;
  #pending = new Int16Array(0);
  #isAudible = false;

  /** @param sampleRate Hz */
  constructor(sampleRate: number) {
    this.#keptSamples = msToSamples(KEPT_MS, sampleRate);
  }

  push(samples: Int16Array): Int16Array {
    if (this.#isAudible) return samples;
    const onset = samples.findIndex((sample) => Math.abs(sample) > MAX_SILENCE_PEAK);
    const silence = onset < 0 ? samples : samples.subarray(0, onset);
    const pending = new Int16Array(Math.min(this.#keptSamples, this.#pending.length + silence.length));
    const fromPiece = silence.subarray(Math.max(0, silence.length - pending.length));
    pending.set(fromPiece, pending.length - fromPiece.length);
    pending.set(this.#pending.subarray(this.#pending.length - (pending.length - fromPiece.length)), 0);
    this.#pending = pending;
    if (onset < 0) return new Int16Array(0);
    this.#isAudible = true;
    const result = new Int16Array(pending.length + samples.length - onset);
    result.set(pending, 0);
    result.set(samples.subarray(onset), pending.length);
    return result;
  }
}
