import { type Speech, type Voice, VoiceUnavailable } from "../../src/ports/speech.ts";
import { compareVoiceIds, parseVoiceId, type VoiceId } from "./parse-voice-id.ts";

/** A voice and the engine that speaks it. */
export interface FoundVoice {
  readonly voice: Voice;
  readonly engine: Speech;
}

/** The advice for a language that no engine speaks, as the end of the sentence "to fix it, …". */
export type Remedy = (id: VoiceId) => Promise<string>;

/** Maximum number of a language's voices that an error names. */
const MAX_NAMED = 12;

/**
 * The voices of several engines. A voice id is spoken by the first engine that has it, and `xx-YY-1` is the best voice
 * of the first engine that has the language; it never speaks a language other than the requested one.
 */
export class VoiceCatalogue {
  readonly #engines: readonly Speech[];
  readonly #remedy: Remedy;
  /** The engine for each voice id that has been found so far. */
  readonly #engineById = new Map<string, Speech>();

  constructor(engines: readonly Speech[], remedy: Remedy) {
    this.#engines = engines;
    this.#remedy = remedy;
  }

  /** All voices that currently work, sorted by id. */
  async all(): Promise<readonly Voice[]> {
    const voices = new Map<string, Voice>();
    for (const engine of this.#engines) {
      const engineVoices = await engine.voices();
      for (const voice of engineVoices) if (!voices.has(voice.id)) voices.set(voice.id, voice);
      for (const tag of new Set(engineVoices.map(({ language }) => language))) {
        const id = `${tag}-1`;
        const bestVoice = voices.has(id) ? undefined : await voiceOf(engine, id);
        if (bestVoice) voices.set(id, bestVoice);
      }
    }
    return [...voices.values()].sort((a, b) => compareVoiceIds(a.id, b.id));
  }

  /** The voice with this id. Throws {@link VoiceUnavailable}. */
  async find(id: string): Promise<FoundVoice> {
    // A better voice may have been installed in the meantime.
    const engine = parseVoiceId(id)?.number === 1 ? undefined : this.#engineById.get(id);
    const engines = engine ? [engine, ...this.#engines] : this.#engines;
    for (const engine of engines) {
      const voice = await voiceOf(engine, id);
      if (voice === undefined) continue;
      this.#engineById.set(id, engine);
      return { voice, engine };
    }
    this.#engineById.delete(id);
    const loss = await this.#lossOf(id);
    throw new VoiceUnavailable(`${loss ? `${loss.message}; ` : ""}${await this.#explain(id, loss)}`);
  }

  /** The engine of a voice that has been found before. */
  engineOf(id: string): Speech | undefined {
    return this.#engineById.get(id);
  }

  /** Reason why an engine has lost a voice that it used to have. */
  async #lossOf(id: string): Promise<VoiceLost | undefined> {
    for (const engine of this.#engines) {
      const error = await engine.voice(id).catch((error: unknown) => error);
      if (error instanceof VoiceLost) return error;
    }
    return undefined;
  }

  async #explain(id: string, loss: VoiceLost | undefined): Promise<string> {
    const voiceId = parseVoiceId(id);
    if (voiceId === undefined) return `voice "${id}" does not exist: a voice id looks like "pt-BR-1"`;
    const { tag, language } = voiceId;
    const voices = await this.all();
    const sameTag = voices.filter((voice) => voice.language === tag);
    const candidates =
      sameTag.length > 0 ? sameTag : voices.filter((voice) => voice.language.startsWith(`${language}-`));
    if (candidates.length === 0)
      return `voice ${id} is not available, and no other voice speaks ${language}; to fix it, ${loss?.remedy ?? (await this.#remedy(voiceId))}`;
    const namedIds = candidates.slice(0, MAX_NAMED).map((voice) => voice.id);
    const suffix = candidates.length > namedIds.length ? ` and ${candidates.length - namedIds.length} more` : "";
    const scope = sameTag.length > 0 ? tag : language;
    const restoration = loss ? `${loss.remedy}; or ` : "";
    return `voice ${id} is not available; to fix it, ${restoration}choose a voice for ${scope}: ${namedIds.join(", ")}${suffix}`;
  }
}

/** Thrown by an engine for a voice that it has but cannot use. The message has the reason. */
export class VoiceLost extends VoiceUnavailable {
  /** The fix, as the end of the sentence "to fix it, …". */
  readonly remedy: string;

  constructor(message: string, remedy: string) {
    super(message);
    this.remedy = remedy;
  }
}

/** The voice with this id; a language's best voice becomes an alias. */
async function voiceOf(engine: Speech, id: string): Promise<Voice | undefined> {
  try {
    const voice = await engine.voice(id);
    return voice.id === id ? voice : { ...voice, id, aliasOf: voice.id };
  } catch (error) {
    if (error instanceof VoiceUnavailable) return undefined;
    throw error;
  }
}
