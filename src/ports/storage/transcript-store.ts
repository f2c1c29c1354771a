import type { TranscriptLine } from "../../domain/calls/transcript.ts";

/** The transcripts of calls. */
export interface TranscriptStore {
  /** Leaves an existing line (same call and position) unchanged; drops lines of an unknown call. */
  append(lines: readonly TranscriptLine[]): Promise<void>;
  /** The lines of these calls in the order of speaking: by `startMs`, then by `position`. */
  ofCalls(callIds: readonly string[]): Promise<TranscriptLine[]>;
}
