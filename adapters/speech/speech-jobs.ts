import type { PcmChunk } from "../../src/ports/media.ts";

/** Speech jobs, by kind. */
export interface SpeechJobs {
  /** Reports which engines are installed, in one piece. */
  installed: { readonly input: object; readonly piece: InstalledEngines };
  flite: { readonly input: FliteInput; readonly piece: PcmChunk };
  espeak: { readonly input: EspeakInput; readonly piece: PcmChunk };
}

export interface InstalledEngines {
  readonly flite: boolean;
  /** eSpeak NG's languages; undefined if it is not installed. */
  readonly espeak: readonly EspeakLanguage[] | undefined;
}

/** A language, or a language's accent, that eSpeak NG speaks. */
export interface EspeakLanguage {
  /** The engine's name for the voice: `roa/pt-BR`. */
  readonly identifier: string;
  /** Display name: `Portuguese (Brazil)`. */
  readonly name: string;
  /** Tags of the language, in lower case: `pt-br`, `pt`. A lower number is a better match. */
  readonly tags: readonly { readonly tag: string; readonly priority: number }[];
}

export interface FliteInput {
  readonly text: string;
  /** `slt`, `rms`, `awb`, `kal16` or `kal`. */
  readonly voice: string;
}

export interface EspeakInput {
  readonly text: string;
  /** A language's identifier, with a variant after a plus: `roa/pt-BR+f2`. */
  readonly voice: string;
}

/** The part of a worker pool that speech uses, such as `WorkerPool`. */
export interface SpeechWorkers {
  /** Number of jobs that run concurrently. Default: 2. */
  readonly size?: number | undefined;
  run<K extends keyof SpeechJobs>(
    job: { readonly kind: K } & SpeechJobs[K]["input"],
    options?: { readonly signal?: AbortSignal | undefined; readonly timeoutMs?: number | undefined },
  ): AsyncIterable<SpeechJobs[K]["piece"]>;
}

/** The context of a running speech job. */
export interface SpeechJobContext<Piece> {
  emit(piece: Piece, transfer?: readonly ArrayBuffer[]): void;
  isCancelled(): boolean;
}
