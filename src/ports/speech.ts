import { CodedError } from "../base/error.ts";
import type { PcmChunk } from "./media.ts";

/** A voice that can speak on this machine, now. */
export interface Voice {
  /** `pt-BR-1`: a language-region tag and a number. */
  readonly id: string;
  /** BCP 47 tag: `pt-BR`. */
  readonly language: string;
  /** The engine that speaks: `flite`, `espeak-ng`, `http`. */
  readonly engine: string;
  /** The engine's own name for the voice. */
  readonly name: string;
  /** Sound of the voice: `robotic` for the embedded engines, `natural` for neural engines. */
  readonly quality: "robotic" | "natural";
  /**
   * Scripts whose letters the voice reads as words, as ISO 15924 codes: `Latn`, `Cyrl`, `Jpan`; `Zsye` if it names
   * emoji. Ringport leaves other letters out of a text and reports them. Default: the voice speaks everything.
   */
  readonly scripts?: readonly string[] | undefined;
  /** `generic` if the engine has the language but not this region's accent. */
  readonly accent?: "generic";
  /** True for a voice that is listed on request only: a variant of another voice, or a constructed language. */
  readonly isVariant?: true;
  /**
   * Permanent id of the voice that this id currently refers to. Only `xx-YY-1` has it: the best voice of its language
   * on this server. Every other id names one voice permanently.
   */
  readonly aliasOf?: string;
}

/** Thrown for a voice id that is well-formed but cannot speak here. The message names the fix. */
export class VoiceUnavailable extends CodedError {
  override readonly name = "VoiceUnavailable";
  readonly code = "voice_unavailable";
}

/** Thrown if an engine cannot speak the text; the message is human-readable. */
export class SpeechFailed extends CodedError {
  override readonly name = "SpeechFailed";
  readonly code = "speech_failed";
}

/** Thrown for a text without any words to speak. In a longer text, such a slice is skipped. */
export class NothingToSpeak extends SpeechFailed {}

/**
 * Text to speech: one engine, or several behind one `Speech`. It never speaks a language other than the requested one,
 * and it never blocks the thread that carries audio.
 *
 * Ringport puts its catalogue of voices and its cache in front of every engine: a text is spoken only once in the same
 * voice, and then played from memory.
 */
export interface Speech {
  /** Every voice that works now, sorted by id. */
  voices(): Promise<readonly Voice[]>;
  /**
   * The voice with this id. Must be cheap: called whenever a call is created.
   * @throws {VoiceUnavailable} naming the voice, the voices of that language and the one-line fix
   */
  voice(voiceId: string): Promise<Voice>;
  /**
   * Speaks a text of 1 to 4096 characters (code points), in pieces as they become ready. Several calls may share the
   * samples: the receiver does not write to them, and the engine does not reuse their memory.
   * @throws {VoiceUnavailable | SpeechFailed}
   */
  speak(text: string, voiceId: string, signal: AbortSignal): AsyncIterable<PcmChunk>;
  /**
   * Maximum number of texts that an engine speaks at the same time, by the engine's name ({@link Voice.engine}); others
   * wait. Default: 2.
   */
  readonly atOnce?: Readonly<Record<string, number>> | undefined;
  /**
   * Maximum length of a slice, in characters: a longer text is spoken in slices of whole sentences, with one `speak`
   * each, so that other calls get their turn in between. Default: 300; `Infinity` for engines that must see a whole
   * text; a function if it depends on the voice.
   */
  readonly sliceLength?: number | ((voice: Voice) => number | undefined) | undefined;
  /**
   * Loads engines ahead of the first call; called when the first line opens. Idempotent. A failure is logged, and
   * occurs again with the first text.
   */
  warmUp?(): Promise<void>;
  close(): Promise<void>;
}
