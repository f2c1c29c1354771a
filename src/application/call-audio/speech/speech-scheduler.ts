import { SpokenLength } from "../../../audio/voice/spoken-length.ts";
import { hasWords } from "../../../base/has-words.ts";
import { ownMember } from "../../../base/own-member.ts";
import { Queue } from "../../../base/queue.ts";
import { within } from "../../../base/timers.ts";
import { plainCharacters } from "../../../domain/spoken-text/plain-characters.ts";
import { scriptName } from "../../../domain/spoken-text/scripts.ts";
import {
  joinSkipped,
  type SkippedText,
  skippedText,
  speakableText,
  spokenCharacters,
} from "../../../domain/spoken-text/speakable-text.ts";
import { speechSlices } from "../../../domain/spoken-text/speech-slices.ts";
import { spokenDigits } from "../../../domain/spoken-text/spoken-digits.ts";
import { DEFAULT_TIMINGS } from "../../../domain/timings.ts";
import type { PcmChunk } from "../../../ports/media.ts";
import { NothingToSpeak, type Speech, SpeechFailed, type Voice } from "../../../ports/speech.ts";
import type { System } from "../../../ports/system.ts";
import { type Demand, FairTurns } from "./fair-turns.ts";

/** Default number of texts that an engine speaks at the same time. */
const DEFAULT_CONCURRENCY = 2;
/** Default length of the longest slice of a text, characters. */
const DEFAULT_SLICE_LENGTH = 300;
/** Maximum length of a text for an engine, characters; spelling out digits makes a text longer. */
const MAX_SLICE_LENGTH = 4096;
/** Shortest first slice, characters: a single sentence if possible, so that it is spoken soon. */
const FIRST_SLICE_LENGTH = 40;

/** Callbacks of {@link SpeechScheduler.speak}. */
export interface SpeakReports {
  /** Receives the skipped parts: first the passages in scripts that the voice does not support. */
  onSkipped?(passage: SkippedText): void;
  /** Called when all sound of a slice has been consumed. @param characters its letters, digits and emoji */
  onSpoken?(characters: number): void;
}

/** Thrown for a text in scripts that its voice does not support. */
export class UnspeakableText extends NothingToSpeak {}

/** Speaks texts in slices, so that each call gets its turn between the long texts of others. */
export class SpeechScheduler {
  readonly #speech: Speech;
  readonly #system: System;
  readonly #voiceTimeoutMs: number;
  readonly #turns = new Map<string, FairTurns>();

  /** @param voiceTimeoutMs timeout of a voice look-up, ms */
  constructor(speech: Speech, system: System, voiceTimeoutMs: number = DEFAULT_TIMINGS.messagePreparationMs) {
    this.#speech = speech;
    this.#system = system;
    this.#voiceTimeoutMs = voiceTimeoutMs;
  }

  /**
   * Speaks a text: codes digit by digit, without the passages that the voice cannot speak. A slice is rendered to its
   * end even if its pieces are not consumed; the next slice starts once they have been.
   * @throws {VoiceUnavailable | SpeechFailed} or the signal's reason
   */
  async *speak(
    text: string,
    voiceId: string,
    demand: Demand,
    signal: AbortSignal,
    reports: SpeakReports = {},
  ): AsyncGenerator<PcmChunk, void> {
    const voice = await this.#voice(voiceId, signal);
    const speakable = speakableText(plainCharacters(text), voice.scripts);
    if (speakable.skippedPassages.length > 0) {
      reports.onSkipped?.(joinSkipped(speakable.skippedPassages));
      if (!hasWords(speakable.text)) throw new UnspeakableText(unspeakableDetail(voice, speakable.scripts));
    }
    const length = new SpokenLength();
    let hasSpoken = false;
    let skipError: unknown;
    for (const slice of this.#slices(spokenDigits(speakable.text), voice)) {
      if (slice.trim() === "") continue;
      const endTurn = await this.#turnsOf(voice.engine).take(demand, signal);
      try {
        for await (const piece of this.#render(slice, voiceId, endTurn, signal)) {
          hasSpoken = true;
          length.add(piece);
          yield piece;
        }
        reports.onSpoken?.(spokenCharacters(slice));
      } catch (error) {
        signal.throwIfAborted();
        if (!isSkippable(error, slice)) throw error;
        skipError = error;
        if (hasWords(slice)) reports.onSkipped?.(skippedText(slice));
      }
    }
    if (!hasSpoken && skipError !== undefined) throw skipError;
  }

  #voice(voiceId: string, signal: AbortSignal): Promise<Voice> {
    const [system, ms] = [this.#system, this.#voiceTimeoutMs];
    const timeoutError = () => new SpeechFailed(`the voice "${voiceId}" was not found within ${ms} ms`);
    return within(this.#speech.voice(voiceId), { system, ms, timeoutError, signal });
  }

  #slices(text: string, voice: Voice): Iterable<string> {
    const { sliceLength } = this.#speech;
    const preferredLength =
      (typeof sliceLength === "function" ? sliceLength(voice) : sliceLength) ?? DEFAULT_SLICE_LENGTH;
    if (text.length <= FIRST_SLICE_LENGTH || (preferredLength === Infinity && text.length <= MAX_SLICE_LENGTH))
      return [text];
    const maxLength = Math.min(preferredLength, MAX_SLICE_LENGTH);
    return speechSlices(text, {
      maxLength,
      minLength: maxLength / 2,
      firstMinLength: Math.min(FIRST_SLICE_LENGTH, maxLength / 2),
    });
  }

  /** Renders one slice; ends its turn as soon as the engine is done, or the signal is aborted. */
  async *#render(
    slice: string,
    voiceId: string,
    endTurn: () => void,
    signal: AbortSignal,
  ): AsyncGenerator<PcmChunk, void> {
    const pieces = new Queue<PcmChunk>();
    const engineScope = new AbortController();
    const stop = () => {
      engineScope.abort(signal.reason);
      pieces.close();
    };
    signal.throwIfAborted(); // an aborted signal has already ended the turn
    signal.addEventListener("abort", stop, { once: true });
    const rendering = (async () => {
      try {
        for await (const piece of this.#speech.speak(slice, voiceId, engineScope.signal)) pieces.push(piece);
      } finally {
        endTurn();
        pieces.close();
      }
    })();
    rendering.catch(() => {}); // thrown below, after the pieces that precede it
    try {
      yield* pieces;
      signal.throwIfAborted();
      await rendering;
    } finally {
      signal.removeEventListener("abort", stop);
      endTurn();
      stop();
    }
  }

  #turnsOf(engine: string): FairTurns {
    const currentTurns = this.#turns.get(engine);
    if (currentTurns) return currentTurns;
    const { atOnce } = this.#speech;
    const turns = new FairTurns(this.#system, (atOnce && ownMember(atOnce, engine)) ?? DEFAULT_CONCURRENCY);
    this.#turns.set(engine, turns);
    return turns;
  }
}

/** The error message for a text in scripts that a voice does not support. */
export function unspeakableDetail({ id }: Voice, scripts: readonly string[]): string {
  return `voice ${id} cannot speak ${scripts.length === 0 ? "this script" : scripts.map(scriptName).join(", ")}`;
}

/** True if only this slice is skipped: the rest of the text may still be spoken. */
function isSkippable(error: unknown, slice: string): boolean {
  return error instanceof NothingToSpeak || (error instanceof SpeechFailed && !hasWords(slice));
}
