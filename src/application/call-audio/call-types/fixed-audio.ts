import type { Playout } from "../../../audio/playout/playout.ts";
import { errorText } from "../../../base/error.ts";
import type { CallOf } from "../../../domain/calls/call.ts";
import { playedShare } from "../../../domain/calls/file-bytes.ts";
import { StorageUnavailable } from "../../../ports/storage.ts";
import type { Context } from "../../context.ts";
import { ProgramFailed } from "./call-type-program.ts";
import { MessageDemand, type PreparedMessage } from "./prepared-message.ts";

type PlayContext = Pick<Context, "decodedFiles" | "decoder" | "decoderTurns" | "storage">;

/** FIXED_AUDIO: plays the uploaded file. */
export function play(context: PlayContext, call: CallOf<"FIXED_AUDIO">, expectedRate: number): PreparedMessage {
  return new DecodedMessage(context, call, expectedRate);
}

/** Decodes the whole file at the rate that the leg will probably have, and again if the leg has another rate. */
class DecodedMessage implements PreparedMessage {
  readonly playableShare: number;
  readonly #context: PlayContext;
  readonly #callId: string;
  readonly #sha256: string | undefined;
  readonly #demand: MessageDemand;
  readonly #expectedRate: number;
  readonly #scope = new AbortController();
  #file: Uint8Array | undefined;
  #decodedSamples: Int16Array | undefined;

  constructor(context: PlayContext, call: CallOf<"FIXED_AUDIO">, expectedRate: number) {
    const { bytes, sha256 } = call.message;
    this.playableShare = bytes === undefined ? 1 : playedShare(bytes);
    this.#context = context;
    this.#callId = call.id;
    this.#sha256 = sha256;
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

  /** The samples of a call with the same file, or of this call's file. */
  async #decode(sampleRate: number, onStarted?: () => void): Promise<Int16Array> {
    const sharedSamples = this.#findShared(sampleRate, onStarted);
    if (sharedSamples) return sharedSamples;
    const endTurn = await this.#context.decoderTurns.take(this.#demand, this.#scope.signal);
    try {
      // Another call may have decoded the file in the meantime.
      return this.#findShared(sampleRate, onStarted) ?? (await this.#decodeFile(sampleRate, onStarted));
    } finally {
      endTurn();
    }
  }

  #findShared(sampleRate: number, onStarted?: () => void): Int16Array | undefined {
    const samples = this.#context.decodedFiles.find(this.#sha256, sampleRate);
    if (samples) onStarted?.();
    return samples;
  }

  /** Reads the file only in its turn: thousands may wait. */
  async #decodeFile(sampleRate: number, onStarted?: () => void): Promise<Int16Array> {
    const { storage, decoder, decodedFiles } = this.#context;
    try {
      this.#file ??= await storage.calls.audio(this.#callId);
      if (!this.#file) throw new ProgramFailed("internal_error", "this call's audio file is not in the storage");
      onStarted?.();
      const samples = await decoder.decode(this.#file, sampleRate, this.#scope.signal);
      if (samples.length > 0) return decodedFiles.share(this.#sha256, sampleRate, samples);
    } catch (cause) {
      if (cause instanceof StorageUnavailable || cause instanceof ProgramFailed) throw cause;
      // The file was decoded once at creation, so the fault is the server's.
      throw new ProgramFailed("internal_error", `the audio file could not be decoded: ${errorText(cause)}`, {
        cause,
      });
    }
    throw new ProgramFailed("speech_failed", "the message has no sound");
  }
}
