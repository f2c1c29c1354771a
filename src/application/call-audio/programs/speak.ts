import type { Playout } from "../../../audio/playout.ts";
import { resampleStream } from "../../../audio/resample-stream.ts";
import { errorText } from "../../../base/error-text.ts";
import type { CallOf } from "../../../domain/call.ts";
import { plainCharacters } from "../../../domain/spoken-text/plain-characters.ts";
import { type SkippedText, spokenCharacters } from "../../../domain/spoken-text/speakable-text.ts";
import type { PcmChunk } from "../../../ports/media.ts";
import type { Context } from "../../context.ts";
import { type Message, MessageDemand } from "./message.ts";
import { ProgramFailed } from "./program.ts";

/** Speech that is rendered before the call is dialled, ms. */
const BEGINNING_MS = 1_000;

/** FIXED_TTS: speaks the text. */
export function speak(context: Context, call: CallOf<"FIXED_TTS">): Message {
  return new SpokenMessage(context, call);
}

class SpokenMessage implements Message {
  readonly #demand: MessageDemand;
  readonly #scope = new AbortController();
  readonly #rest: AsyncGenerator<PcmChunk, void>;
  /** Pieces rendered before the call had a leg. */
  readonly #beginning: PcmChunk[] = [];
  /** Letters, digits and emoji of the text. */
  readonly #characters: number;
  #skippedCharacters = 0;
  /** Passages that were skipped before they could be reported. */
  readonly #skipped: SkippedText[] = [];
  #report: ((passage: SkippedText) => void) | undefined;

  constructor({ speechScheduler }: Context, call: CallOf<"FIXED_TTS">) {
    const { text, voiceId } = call.message;
    this.#demand = new MessageDemand(call);
    this.#characters = spokenCharacters(plainCharacters(text));
    const skip = (passage: SkippedText) => this.#skip(passage);
    this.#rest = failing(speechScheduler.speak(text, voiceId, this.#demand, this.#scope.signal, skip));
  }

  get playableShare(): number {
    return this.#characters === 0 ? 1 : Math.max(0, 1 - this.#skippedCharacters / this.#characters);
  }

  onSkipped(report: (passage: SkippedText) => void): void {
    this.#report = report;
    for (const passage of this.#skipped.splice(0)) report(passage);
  }

  async prepare(begun: () => void): Promise<void> {
    this.#demand.begin = begun;
    while (this.#demand.preparedMs < BEGINNING_MS) {
      const { value, done } = await this.#rest.next();
      if (done) break;
      this.#beginning.push(value);
      this.#demand.preparedMs += (1000 * value.samples.length) / value.sampleRate;
    }
    if (this.#demand.preparedMs === 0) throw new ProgramFailed("speech_failed", "the message has no sound");
  }

  samples(playout: Playout): AsyncIterable<Int16Array> {
    this.#demand.playout = playout;
    return resampleStream(this.#all(), playout.sampleRate);
  }

  cancel(): void {
    this.#scope.abort(new ProgramFailed("speech_failed", "the message is not needed any more"));
  }

  #skip(passage: SkippedText): void {
    this.#skippedCharacters += passage.characters;
    if (this.#report) this.#report(passage);
    else this.#skipped.push(passage);
  }

  async *#all(): AsyncGenerator<PcmChunk, void> {
    yield* this.#beginning.splice(0);
    yield* this.#rest;
  }
}

/** The same pieces; every error becomes a {@link ProgramFailed}. */
async function* failing(pieces: AsyncIterable<PcmChunk>): AsyncGenerator<PcmChunk, void> {
  try {
    yield* pieces;
  } catch (cause) {
    throw new ProgramFailed("speech_failed", errorText(cause), { cause });
  }
}
