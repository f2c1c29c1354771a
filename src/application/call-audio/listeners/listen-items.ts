import type { CallStatus } from "../../../domain/calls/call.ts";
import type { Outcome } from "../../../domain/calls/outcome.ts";

/** An item for a listener of a live call; the items arrive in the order of the call. */
export type ListenItem =
  /** The call has not been picked up yet. */
  | { readonly type: "waiting"; readonly status: CallStatus }
  /** The audio starts. */
  | { readonly type: "started"; readonly sampleRate: number }
  /** The next samples of both sides, interleaved: the callee on the left, the outbound audio on the right. */
  | { readonly type: "audio"; readonly samples: Int16Array<ArrayBuffer> }
  /** Audio is missing here, because it was not read in time. */
  | { readonly type: "gap"; readonly lostMs: number }
  /** The call has ended; this is the last item. */
  | { readonly type: "call_ended"; readonly status: "COMPLETED" | "FAILED"; readonly reason: Outcome["reason"] };

/**
 * Listens to both sides of a live call, from the answer on, without disturbing it. At most {@link BUFFER_MS} of audio
 * waits for a reader. Read it with one loop; leaving the loop closes it.
 */
export interface CallListening extends AsyncIterable<ListenItem> {
  readonly callId: string;
  /** Stops listening; the loop ends. Idempotent. */
  close(): void;
}

/** Maximum length of the audio that waits for a listener, ms. */
export const BUFFER_MS = 5_000;
/** Maximum number of listeners of one call. */
export const MAX_LISTENERS = 4;
