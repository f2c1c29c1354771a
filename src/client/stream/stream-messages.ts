import type { CompletedReason, FailedReason } from "../../domain/calls/outcome.ts";
import type { EventData } from "../../domain/events.ts";
import type { StreamError, StreamTranscript } from "../../http/response-types.ts";

interface CallEventNamed<Name extends string> {
  readonly type: "call_event";
  readonly event: Name;
  /** RFC 3339. */
  readonly timestamp: string;
}

/** An event of a call with a live stream. */
export type StreamCallEvent =
  | CallEventNamed<"ringing" | "answered">
  | (CallEventNamed<"dtmf"> & { readonly digit: string })
  /** A tone of `hz`, like that of an answering machine; it began `at_ms` after pickup. */
  | (CallEventNamed<"beep"> & { readonly hz: number; readonly at_ms: number })
  /** A known tone of a network or a machine; it began `at_ms` after pickup. */
  | (CallEventNamed<"line_tone"> & Pick<EventData["line_tone"], "tone" | "at_ms">)
  /** Answerer, if known; a later event corrects an earlier one. */
  | (CallEventNamed<"answered_by"> & EventData["answered_by"])
  | (CallEventNamed<"mark"> & { readonly name: string })
  /** The queued audio was dropped; `heard_ms` of all the audio were heard. */
  | (CallEventNamed<"cleared"> & { readonly heard_ms: number })
  /** More than 30 s of audio are queued, or less than 15 s again. A program that awaits `write` never gets these. */
  | (CallEventNamed<"buffer_high" | "buffer_low"> & { readonly queued_ms: number })
  /** `dropped_ms` of the callee's audio are missing here, because they were not read in time. */
  | (CallEventNamed<"audio_dropped"> & { readonly dropped_ms: number })
  /** No transcription engine is configured. */
  | (CallEventNamed<"transcripts_unavailable"> & { readonly reason: "no_engine" })
  /** The engine has failed: a part is missing (`recoverable`), or no more transcripts follow. */
  | (CallEventNamed<"transcripts_unavailable"> & { readonly reason: "engine_failed"; readonly recoverable: boolean })
  | (CallEventNamed<"completed"> & { readonly reason: CompletedReason | null })
  | (CallEventNamed<"failed"> & { readonly reason: FailedReason | null });

/** A message of a stream; discriminated by `type` and `event`. */
export type StreamEvent = StreamCallEvent | StreamTranscript | StreamError;

/** Requests the server's progress. The server replies with `StreamProgress`, in the order of the messages. */
export const PROGRESS_REQUEST = '{"type":"progress"}';

/** Close codes after which the stream cannot be reopened. */
export const CLOSED = {
  /** The call completed. */
  completed: 1000,
  /** The bytes are not valid audio. */
  notAudio: 1003,
  /** The token was revoked or has expired. */
  revoked: 4001,
  /** More than 60 s of audio was queued. */
  overflow: 4008,
  /** The call failed. */
  failed: 4010,
} as const;
