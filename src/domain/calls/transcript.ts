export const SPEAKERS = ["callee", "caller"] as const;
/** Speaker: the person who was called, or the side that the stream's client plays. */
export type Speaker = (typeof SPEAKERS)[number];

/** One stored line of a call's transcript. */
export interface TranscriptLine {
  readonly callId: string;
  /** Number of the line within its call, in the order of recognition. */
  readonly position: number;
  readonly speaker: Speaker;
  readonly text: string;
  /** Time at which it was spoken; ms since 1970-01-01 UTC. */
  readonly timestamp: number;
  /** Time since the call was answered, ms. */
  readonly startMs: number;
  readonly endMs: number;
  /** Certainty of the engine, 0 to 1; null if the engine does not report it. */
  readonly confidence: number | null;
}
