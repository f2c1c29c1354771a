import type { PcmChunk } from "../../src/ports/media.ts";
import type { Voice } from "../../src/ports/speech.ts";
import type { VoiceId } from "./voice-id.ts";

export type EngineName = "http" | "flite" | "espeak-ng";

/** How one engine speaks one voice. */
export interface EngineVoice {
  readonly engine: EngineName;
  /** The engine's own name of the voice: `slt`, `roa/pt-BR+f2`, `pf_dora`. */
  readonly name: string;
  readonly quality: Voice["quality"];
  readonly accent?: Voice["accent"];
  /** HTTP only: another model than the configured one. */
  readonly model?: string | undefined;
  /** HTTP only: 1 is the voice's own speed. */
  readonly speed?: number | undefined;
  /** HTTP only: told to servers whose voices speak several languages. */
  readonly language?: string | undefined;
}

/** One way of speaking. Engines translate; which of them speaks is decided in `embeddedSpeech`. */
export interface SpeechEngine {
  readonly name: EngineName;
  /** Whether it can speak here at all. */
  available(): Promise<boolean>;
  /** The ids that it speaks without any configuration, for a list. */
  list(): Promise<readonly (readonly [id: string, voice: EngineVoice])[]>;
  /** The voice behind an id, also one that is in no list; undefined when it has none. */
  find(id: VoiceId): Promise<EngineVoice | undefined>;
  /** A voice by the engine's own name, as configuration names it; undefined when it has none. */
  named(name: string): Promise<EngineVoice | undefined>;
  /** Speaks a text. Throws any Error, whose message is for a person; the signal's reason when aborted. */
  speak(voice: EngineVoice, text: string, signal: AbortSignal): AsyncIterable<PcmChunk>;
}
