import type { CompletedReason, FailedReason } from "../domain/outcome.ts";
import type { StreamError, StreamTranscript } from "../http/answers.ts";

interface CallEventNamed<Name extends string> {
  readonly type: "call_event";
  readonly event: Name;
  /** RFC 3339. */
  readonly timestamp: string;
}

/** Something that happened on a call with a live stream, as its server tells it. */
export type StreamCallEvent =
  | CallEventNamed<"ringing" | "answered">
  | (CallEventNamed<"dtmf"> & { readonly digit: string })
  /** Something like the tone of an answering machine, of `hz`; it began `at_ms` after the answer. */
  | (CallEventNamed<"beep"> & { readonly hz: number; readonly at_ms: number })
  | (CallEventNamed<"mark"> & { readonly name: string })
  /** What waited was dropped; `heard_ms` of all the audio were heard. */
  | (CallEventNamed<"cleared"> & { readonly heard_ms: number })
  /** More than 30 s of audio wait, and less than 15 s again. Whoever awaits `write` does not come so far. */
  | (CallEventNamed<"buffer_high" | "buffer_low"> & { readonly queued_ms: number })
  /** So much of the callee's audio is missing here: it was not read in time. */
  | (CallEventNamed<"audio_dropped"> & { readonly dropped_ms: number })
  /** No engine writes down what is said. */
  | (CallEventNamed<"transcripts_unavailable"> & { readonly reason: "no_engine" })
  /** The engine has failed: a part is missing (`recoverable`), or nothing more comes. */
  | (CallEventNamed<"transcripts_unavailable"> & { readonly reason: "engine_failed"; readonly recoverable: boolean })
  | (CallEventNamed<"completed"> & { readonly reason: CompletedReason | null })
  | (CallEventNamed<"failed"> & { readonly reason: FailedReason | null });

/** What a stream tells, to be told apart by `type` and `event`. */
export type StreamEvent = StreamCallEvent | StreamTranscript | StreamError;

/** Asks how far the server is with what was sent; answered by `StreamProgress`. The server answers in the order of the messages. */
export const ASK_FOR_PROGRESS = '{"type":"progress"}';

/** Close codes after which there is nothing to come back to. */
export const CLOSED = {
  /** The call is over, and completed. */
  completed: 1000,
  /** The bytes are not the audio that they should be. */
  notAudio: 1003,
  /** The token was revoked or has expired. */
  revoked: 4001,
  /** More than 60 s of audio were waiting. */
  overflow: 4008,
  /** The call has failed. */
  failed: 4010,
} as const;
