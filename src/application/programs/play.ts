import type { Playout } from "../../audio/playout.ts";
import type { Call } from "../../domain/call.ts";
import type { Context } from "../context.ts";
import { type Message, MessageDemand } from "./message.ts";
import { ProgramFailed } from "./program.ts";

/**
 * FIXED_AUDIO: the uploaded file.
 * @throws {StorageUnavailable} it cannot be read now
 */
export async function play(context: Context, call: Call, usualRate: number): Promise<Message> {
  const file = await context.storage.calls.audio(call.id);
  if (!file) throw new ProgramFailed("internal_error", "the audio file of this call is not in the storage");
  return new DecodedMessage(context, call, file, usualRate);
}

/** Decoded as a whole, at the rate that its leg will probably have; again if the leg has another one. */
class DecodedMessage implements Message {
  readonly #context: Context;
  readonly #demand: MessageDemand;
  readonly #usualRate: number;
  readonly #scope = new AbortController();
  #file: Uint8Array;
  #decoded: Int16Array | undefined;

  constructor(context: Context, call: Call, file: Uint8Array, usualRate: number) {
    this.#context = context;
    this.#demand = new MessageDemand(call);
    this.#file = file;
    this.#usualRate = usualRate;
  }

  get begun(): Promise<void> {
    return this.#demand.begun;
  }

  async prepare(): Promise<void> {
    this.#decoded = await this.#decode(this.#usualRate);
  }

  async *samples(playout: Playout): AsyncGenerator<Int16Array, void> {
    this.#demand.playout = playout;
    const decoded = playout.sampleRate === this.#usualRate ? this.#decoded : undefined;
    this.#decoded = undefined; // the call outlives both
    const samples = decoded ?? (await this.#decode(playout.sampleRate));
    this.#file = new Uint8Array(0);
    yield samples;
  }

  cancel(): void {
    this.#scope.abort(new ProgramFailed("internal_error", "the message is not needed any more"));
  }

  async #decode(sampleRate: number): Promise<Int16Array> {
    const { decoder, decoderTurns } = this.#context;
    const { signal } = this.#scope;
    const end = await decoderTurns.take(this.#demand, signal);
    try {
      const samples = await decoder.decode(this.#file, sampleRate, signal);
      if (samples.length > 0) return samples;
    } catch (cause) {
      // It was decoded once at creation, so this is ours to explain, not the caller's.
      throw new ProgramFailed("internal_error", `the audio file could not be decoded: ${(cause as Error).message}`, {
        cause,
      });
    } finally {
      end();
    }
    throw new ProgramFailed("speech_failed", "the message has no sound");
  }
}
