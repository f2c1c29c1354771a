import type { PcmChunk } from "./media.ts";

/** A voice that can speak on this machine, now. */
export interface Voice {
  /** `pt-BR-1`: a language-region tag and a number. */
  readonly id: string;
  /** BCP 47 tag: `pt-BR`. */
  readonly language: string;
  /** The engine that speaks: `flite`, `espeak-ng`, `http`. */
  readonly engine: string;
  /** The engine's own name of the voice. */
  readonly name: string;
  /** How it sounds: `robotic` for the embedded engines, `natural` for neural ones. */
  readonly quality: "robotic" | "natural";
  /** `generic` where the engine has the language but not this region's accent. */
  readonly accent?: "generic";
}

/** Thrown for a voice id that is well-formed but cannot speak here. The message names the fix. */
export class VoiceUnavailable extends Error {
  override readonly name = "VoiceUnavailable";
}

/** Thrown when an engine could not speak the text; the message is for a person. */
export class SpeechFailed extends Error {
  override readonly name = "SpeechFailed";
}

/** Thrown for a text that has nothing in it that the voice can speak; a slice of a longer text is passed over. */
export class NothingToSpeak extends SpeechFailed {}

/**
 * Text to speech. One `Speech` may speak through several engines; it never answers in another language than the
 * one asked for, and it never blocks the thread that carries audio.
 */
export interface Speech {
  /** Every voice that works now, sorted by id. */
  voices(): Promise<readonly Voice[]>;
  /**
   * The voice behind an id. Cheap enough to be asked at every creation.
   * @throws {VoiceUnavailable} naming the voice, the voices of that language and the one-line fix
   */
  voice(voiceId: string): Promise<Voice>;
  /**
   * Speaks a text of 1 to 4096 characters (code points), in pieces as they become ready. The samples may be shared with other calls
   * that say the same: whoever receives them does not write to them.
   * @throws {VoiceUnavailable | SpeechFailed}
   */
  speak(text: string, voiceId: string, signal: AbortSignal): AsyncIterable<PcmChunk>;
  /** Texts that an engine speaks at the same time, by the engine's name ({@link Voice.engine}); others wait. Default: 2. */
  readonly atOnce?: Readonly<Record<string, number>> | undefined;
  /**
   * A longer text, in characters, is spoken in slices of whole sentences, one `speak` each, so that other calls get their
   * turn between them. Default: 300; `Infinity` for engines that must see a whole text.
   */
  readonly sliceLength?: number | undefined;
  /** Loads engines ahead of the first call. Idempotent; failures show later, where they matter. */
  warmUp?(): Promise<void>;
  close(): Promise<void>;
}
