import type { Playout } from "../../../audio/playout/playout.ts";
import { errorText } from "../../../base/error.ts";
import type { CallOf } from "../../../domain/calls/call.ts";
import { playedShare } from "../../../domain/calls/file-bytes.ts";
import { StorageUnavailable } from "../../../ports/storage.ts";
import type { Context } from "../../context.ts";
import { ProgramFailed } from "./call-type-program.ts";
import { MessageDemand, type PreparedMessage } from "./prepared-message.ts";

type PlayContext = Pick<Context, "decoder" | "decoderTurns" | "storage">;

/** FIXED_AUDIO: plays the uploaded file. */
export function play(context: PlayContext, call: CallOf<"FIXED_AUDIO">, expectedRate: number): PreparedMessage {
  return new DecodedMessage(context, call, expectedRate);
}

/** Decodes the whole file at the rate that the leg will probably have, and again if the leg has another rate. */
class DecodedMessage implements PreparedMessage {
  readonly playableShare: number;
  readonly #context: PlayContext;
  readonly #callId: string;
  readonly #demand: MessageDemand;
  readonly #expectedRate: number;
  readonly #scope = new AbortController();
  #file: Uint8Array | undefined;
  #decodedSamples: Int16Array | undefined;

  constructor(context: PlayContext, call: CallOf<"FIXED_AUDIO">, expectedRate: number) {
    const { bytes } = call.message;
    this.playableShare = bytes === undefined ? 1 : playedShare(bytes);
    this.#context = context;
    this.#callId = call.id;
    this.#demand = new MessageDemand(call);
    this.#expectedRate = expectedRate;
  }

  async prepare(onStarted: () => void): Promise<void> {
    this.#decodedSamples = await this.#decode(this.#expectedRate, onStarted);
  }

  async *samples(playout: Playout): AsyncGenerator<Int16Array, void> {
    this.#demand.playout = playout;
    const decodedSamples = playout.sampleRate === this.#expectedRate ? this.#decodedSamples : undefined;
    this.#decodedSamples = undefined; // not needed for the rest of the call
    const samples = decodedSamples ?? (await this.#decode(playout.sampleRate));
    this.#file = undefined;
    yield samples;
  }

  cancel(): void {
    this.#scope.abort(new ProgramFailed("internal_error", "the message is no longer needed"));
  }

  /** Reads the file only in its turn: thousands may wait. */
  async #decode(sampleRate: number, onStarted?: () => void): Promise<Int16Array> {
    const { storage, decoder, decoderTurns } = this.#context;
    const { signal } = this.#scope;
    const endTurn = await decoderTurns.take(this.#demand, signal);
    try {
      this.#file ??= await storage.calls.audio(this.#callId);
      if (!this.#file) throw new ProgramFailed("internal_error", "this call's audio file is not in the storage");
      onStarted?.();
      const samples = await decoder.decode(this.#file, sampleRate, signal);
      if (samples.length > 0) return samples;
    } catch (cause) {
      if (cause instanceof StorageUnavailable || cause instanceof ProgramFailed) throw cause;
      // The file was decoded once at creation, so the fault is the server's.
      throw new ProgramFailed("internal_error", `the audio file could not be decoded: ${errorText(cause)}`, {
        cause,
      });
    } finally {
      endTurn();
    }
    throw new ProgramFailed("speech_failed", "the message has no sound");
  }
}
