import type { Playout } from "../../../audio/playout/playout.ts";
import { resampleStream } from "../../../audio/samples/resample-stream.ts";
import { errorText } from "../../../base/error.ts";
import type { CallOf } from "../../../domain/calls/call.ts";
import { plainCharacters } from "../../../domain/spoken-text/plain-characters.ts";
import { type SkippedText, spokenCharacters } from "../../../domain/spoken-text/speakable-text.ts";
import type { PcmChunk } from "../../../ports/media.ts";
import type { Context } from "../../context.ts";
import { ProgramFailed } from "./call-type-program.ts";
import { MessageDemand, type PreparedMessage } from "./prepared-message.ts";

type SpeakContext = Pick<Context, "speechScheduler">;

/** Length of the speech that is rendered before the call is dialled, ms. */
const BEGINNING_MS = 1_000;

/** Assumed length of a spoken character until a slice has been measured, ms. */
const DEFAULT_CHARACTER_MS = 65;

/** FIXED_TTS: speaks the text. */
export function speak(context: SpeakContext, call: CallOf<"FIXED_TTS">): PreparedMessage {
  return new SpokenMessage(context, call);
}

class SpokenMessage implements PreparedMessage {
  readonly #demand: MessageDemand;
  readonly #scope = new AbortController();
  readonly #remainder: AsyncGenerator<PcmChunk, void>;
  /** Pieces rendered before the call had a leg. */
  readonly #openingPieces: PcmChunk[] = [];
  /** Number of letters, digits and emoji in the text. */
  readonly #characters: number;
  #skippedCharacters = 0;
  /** Number of characters in the rendered slices, and the length of their sound, ms. */
  #sliceCharacters = 0;
  #sliceMs = 0;
  /** Length of the audio so far, ms, and whether it is complete. */
  #renderedMs = 0;
  #isRendered = false;
  /** Passages that were skipped before they could be reported. */
  readonly #skippedPassages: SkippedText[] = [];
  #report: ((passage: SkippedText) => void) | undefined;

  constructor({ speechScheduler }: Pick<Context, "speechScheduler">, call: CallOf<"FIXED_TTS">) {
    const { text, voiceId } = call.message;
    this.#demand = new MessageDemand(call);
    this.#characters = spokenCharacters(plainCharacters(text));
    const reports = {
      onSkipped: (passage: SkippedText) => this.#skip(passage),
      onSpoken: (characters: number) => this.#endSlice(characters),
    };
    this.#remainder = this.#countSamples(
      speechScheduler.speak(text, voiceId, this.#demand, this.#scope.signal, reports),
    );
  }

  get playableShare(): number {
    if (this.#characters === 0) return 1;
    const playableCharacters = Math.max(0, this.#characters - this.#skippedCharacters);
    return (
      Math.min(playableCharacters, this.#isRendered ? playableCharacters : this.#renderedCharacters) / this.#characters
    );
  }

  onSkipped(report: (passage: SkippedText) => void): void {
    this.#report = report;
    for (const passage of this.#skippedPassages.splice(0)) report(passage);
  }

  async prepare(onStarted: () => void): Promise<void> {
    this.#demand.begin = onStarted;
    while (this.#demand.preparedMs < BEGINNING_MS) {
      const { value, done } = await this.#remainder.next();
      if (done) break;
      this.#openingPieces.push(value);
      this.#demand.preparedMs += (1000 * value.samples.length) / value.sampleRate;
    }
    if (this.#demand.preparedMs === 0) throw new ProgramFailed("speech_failed", "the message has no sound");
  }

  samples(playout: Playout): AsyncIterable<Int16Array> {
    this.#demand.playout = playout;
    return resampleStream(this.#allPieces(), playout.sampleRate);
  }

  cancel(): void {
    this.#scope.abort(new ProgramFailed("speech_failed", "the message is no longer needed"));
  }

  /**
   * Number of characters already rendered: those of whole slices, plus an estimate for the current slice based on its
   * length.
   */
  get #renderedCharacters(): number {
    const characterMs = this.#sliceMs / this.#sliceCharacters || DEFAULT_CHARACTER_MS;
    return this.#sliceCharacters + (this.#renderedMs - this.#sliceMs) / characterMs;
  }

  async *#countSamples(pieces: AsyncIterable<PcmChunk>): AsyncGenerator<PcmChunk, void> {
    for await (const piece of withProgramFailures(pieces)) {
      this.#renderedMs += (1_000 * piece.samples.length) / piece.sampleRate;
      yield piece;
    }
    this.#isRendered = true;
  }

  #endSlice(characters: number): void {
    this.#sliceCharacters += characters;
    this.#sliceMs = this.#renderedMs;
  }

  #skip(passage: SkippedText): void {
    this.#skippedCharacters += passage.characters;
    if (this.#report) this.#report(passage);
    else this.#skippedPassages.push(passage);
  }

  async *#allPieces(): AsyncGenerator<PcmChunk, void> {
    yield* this.#openingPieces.splice(0);
    yield* this.#remainder;
  }
}

/** The same pieces; every error becomes a {@link ProgramFailed}. */
async function* withProgramFailures(pieces: AsyncIterable<PcmChunk>): AsyncGenerator<PcmChunk, void> {
  try {
    yield* pieces;
  } catch (cause) {
    throw new ProgramFailed("speech_failed", errorText(cause), { cause });
  }
}
