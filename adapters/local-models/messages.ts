/** A voice model, as loaded by the engine. Paths are absolute. */
export interface VoiceFiles {
  readonly kind: "vits" | "kokoro" | "kitten" | "supertonic";
  /** Folder of the model; the folder's name identifies the model. */
  readonly folder: string;
  /** Paths by the engine's names: `model`, `tokens`, `dataDir`, `lexicon`, `voices`. */
  readonly paths: Readonly<Record<string, string>>;
}

/** A streaming recogniser, as loaded by the engine. Paths are absolute. */
export interface RecogniserFiles {
  readonly kind: "transducer" | "toneCtc" | "zipformer2Ctc" | "nemoCtc";
  readonly folder: string;
  readonly tokens: string;
  /** Paths by the engine's names: `encoder`, `decoder`, `joiner`; or `model`. */
  readonly paths: Readonly<Record<string, string>>;
}

/** Requests to a speech process. Each `request` gets one response. */
export type ToHost =
  | ({ readonly type: "speak"; readonly request: number } & SpeakInput)
  /** Opens a stream for one speaker. Model and rate apply to the whole stream. */
  | { readonly type: "open"; readonly stream: number; readonly input: RecogniserInput }
  | { readonly type: "audio"; readonly stream: number; readonly samples: Int16Array }
  /** Ends a turn; the turn's text follows as `final`. */
  | { readonly type: "commit"; readonly stream: number }
  | { readonly type: "close"; readonly stream: number };

/** Text to speak. */
export interface SpeakInput {
  readonly model: VoiceFiles;
  /** Index of the speaker in the model. */
  readonly speaker: number;
  /** Speed of speech; 1 is normal. */
  readonly speed: number;
  /** Language, for models that speak several: `pt-br`. */
  readonly language?: string | undefined;
  readonly text: string;
}

/** A stream to recognise. */
export interface RecogniserInput {
  readonly model: RecogniserFiles;
  /** Sample rate, Hz. */
  readonly sampleRate: number;
  /** Language, for models that recognise several: `pt`. */
  readonly language?: string | undefined;
}

/** Messages from a speech process. */
export type FromHost =
  | { readonly type: "ready" }
  /** A model is about to be loaded; if the process ends before `loaded`, the model is to blame. */
  | { readonly type: "loading"; readonly folder: string }
  | { readonly type: "loaded"; readonly folder: string; readonly bytes: number }
  /** No package of the engine could be loaded; the process ends. */
  | { readonly type: "unavailable"; readonly message: string }
  | { readonly type: "spoken"; readonly request: number; readonly sampleRate: number; readonly samples: Int16Array }
  | { readonly type: "failed"; readonly request: number; readonly message: string }
  /** Progress of the streams since the last report. */
  | { readonly type: "progress"; readonly streams: readonly StreamProgress[] }
  /** A turn has ended. */
  | ({ readonly type: "final"; readonly stream: number } & HeardText)
  /** The stream cannot be recognised, and has been closed. */
  | { readonly type: "stream-failed"; readonly stream: number; readonly message: string }
  /** Memory of the process, bytes. */
  | { readonly type: "memory"; readonly bytes: number };

/** Progress of a stream. */
export interface StreamProgress {
  readonly stream: number;
  /** Number of audio messages consumed since the last progress report. */
  readonly takenCount: number;
  /** The text of the current turn, if it has changed. */
  readonly partial?: HeardText | undefined;
}

/** Recognised text. */
export interface HeardText {
  readonly text: string;
  /** First and last sound, s since the turn began; undefined if nothing was heard. */
  readonly startS?: number | undefined;
  readonly endS?: number | undefined;
}
