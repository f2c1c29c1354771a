import type { AudioFacts } from "../../src/ports/audio-decoder.ts";

/** What the audio decoder asks of a worker, by kind of job. One piece each; that of `decode` holds 16-bit samples. */
export interface AudioJobs {
  inspect: { readonly input: InspectInput; readonly piece: AudioFacts };
  decode: { readonly input: DecodeInput; readonly piece: ArrayBuffer };
}

export interface InspectInput {
  readonly file: ArrayBuffer;
  readonly format: AudioFacts["format"];
  /** The longest audio that is taken, ms. */
  readonly maxDurationMs: number;
  /** CPU time after which the file is given up, ms. */
  readonly maxCpuMs: number;
}

export interface DecodeInput {
  readonly file: ArrayBuffer;
  readonly format: AudioFacts["format"];
  /** Hz of the samples that come back. */
  readonly sampleRate: number;
  /** CPU time after which the file is given up, ms. */
  readonly maxCpuMs: number;
}

/** The part of a worker pool that the audio decoder uses. `WorkerPool` fits. */
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

/** What the code of an audio job may use while it runs. */
export interface AudioJobContext<Piece> {
  emit(piece: Piece, transfer?: readonly ArrayBuffer[]): void;
  cancelled(): boolean;
}
