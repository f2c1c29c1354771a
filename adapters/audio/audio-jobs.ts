import type { AudioFacts } from "../../src/ports/audio-decoder.ts";

/** The worker jobs of the audio decoder, by kind. Each emits a single result; for `decode`, 16-bit samples. */
export interface AudioJobs {
  inspect: { readonly input: InspectInput; readonly piece: AudioFacts };
  decode: { readonly input: DecodeInput; readonly piece: ArrayBuffer };
}

export interface InspectInput {
  readonly file: ArrayBuffer;
  readonly format: AudioFacts["format"];
  /** Maximum length of the audio, ms. */
  readonly maxDurationMs: number;
  /** CPU time after which decoding stops with an error, ms. */
  readonly maxCpuMs: number;
}

export interface DecodeInput {
  readonly file: ArrayBuffer;
  readonly format: AudioFacts["format"];
  /** Sample rate of the result, Hz. */
  readonly sampleRate: number;
  /** CPU time after which decoding stops with an error, ms. */
  readonly maxCpuMs: number;
}

/** The part of a worker pool that the audio decoder uses, such as `WorkerPool`. */
export interface AudioWorkers {
  run<K extends keyof AudioJobs>(
    job: { readonly kind: K } & AudioJobs[K]["input"],
    options?: {
      readonly signal?: AbortSignal | undefined;
      readonly timeoutMs?: number | undefined;
      readonly transfer?: readonly ArrayBuffer[] | undefined;
    },
  ): AsyncIterable<AudioJobs[K]["piece"]>;
}

/** The environment of an audio job. */
export interface AudioJobContext<Piece> {
  emit(piece: Piece, transfer?: readonly ArrayBuffer[]): void;
  isCancelled(): boolean;
}
