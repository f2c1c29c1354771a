import type { IgnoredBytes } from "../../../domain/calls/file-bytes.ts";
import type { Event } from "../../../domain/events.ts";

/** The events of a `call_event` message. */
export const STREAM_EVENTS = [
  "ringing",
  "answered",
  "dtmf",
  "beep",
  "answered_by",
  "line_tone",
  "mark",
  "cleared",
  "completed",
  "failed",
  "transcripts_unavailable",
  "buffer_high",
  "buffer_low",
  /** The client reads too slowly and has lost some of the callee's audio; emitted by the transport. */
  "audio_dropped",
] as const;
/** One of {@link STREAM_EVENTS}. */
export type StreamEventName = (typeof STREAM_EVENTS)[number];

/** Fields of a stream's event: JSON, snake_case keys, durations in ms. */
export type StreamEventData = { readonly [key: string]: string | number | boolean | null };

/** Something that happened on a call with a live stream. */
export interface StreamEvent {
  readonly event: StreamEventName;
  /** ms since 1970-01-01 UTC. */
  readonly timestamp: number;
  /** Fields of the event: `digit`, `name`, `heard_ms`, `reason` and the like. */
  readonly data: StreamEventData;
}

/** A transcribed utterance, or its beginning. */
export interface Transcript {
  readonly text: string;
  /** Start of the utterance, if the engine reports it; ms since 1970-01-01 UTC. */
  readonly timestamp: number;
  /** False if the engine may still revise it. */
  readonly final: boolean;
  readonly speaker: "callee" | "caller";
}

/**
 * Reason why the core detaches a client: the call has ended, as its last event states; more than {@link MAX_QUEUED_MS}
 * of audio was queued; or this process stops.
 */
export type StreamEnd = "completed" | "failed" | "overflow" | "stopping";

/**
 * Carries the audio of a call from outside: a WebSocket, or an embedding program. Its methods run on the leg's clock
 * and must not wait or throw.
 */
export interface StreamClient {
  /** Rate of the callee's audio that it receives, Hz; undefined if it receives none. */
  readonly calleeRate: number | undefined;
  event(event: StreamEvent): void;
  /**
   * A transcript. A final transcript that the previous client may have missed is sent again, with the same
   * speaker and timestamp.
   */
  transcript(transcript: Transcript): void;
  /**
   * The next 20 ms of the callee's audio at `calleeRate`, from the answer on, without gaps. The array is only valid
   * until the method returns.
   */
  callee(frame: Int16Array): void;
  /** Called when the stream has ended for this client, which is now detached. */
  over(end: StreamEnd): void;
}

/** The actions of an attached client. They have no effect once the client is detached. */
export interface StreamAttachment {
  /**
   * Queues audio for the callee, even before the answer. Pieces of any length form one continuous stream; the array is
   * not kept. While the callee's side holds the call, the queue is paused.
   * @throws {RangeError} the rate is not a whole number from 4000 to 192000 Hz
   */
  write(samples: Int16Array, sampleRate: number): void;
  /** Length of the queued audio, ms. */
  readonly queuedMs: number;
  /**
   * Resolves when this much more audio may be written, ms; returns undefined if it may be written now. Also resolves
   * when the client is detached. A queue that is empty has room for any length.
   */
  room(ms: number): Promise<void> | undefined;
  /**
   * Number of messages received from this client and its predecessors. A client that reconnects compares it with the
   * number that it has sent.
   */
  readonly messages: number;
  /** Counts one more received message. */
  took(): void;
  /** Reports bytes of this client's audio that cannot be heard, as the call's event `audio_ignored`. */
  ignored(part: IgnoredBytes): void;
  /**
   * Requests the event `mark`, emitted once all audio written so far has been played; immediately if the queue is
   * empty.
   * @throws {RangeError} 10,000 marks are already pending
   */
  mark(name: string): void;
  /**
   * Drops all queued audio and marks; the event `cleared` reports how much audio of the call was played, in `heard_ms`.
   * After {@link hangUp} the call ends at once.
   */
  clear(): void;
  /**
   * Presses keys. They are sent at once, ahead of queued audio, or at the answer; if the network cannot send keys, they
   * are tones at the end of the queue.
   * @throws {RangeError} characters other than 0-9 * # A-D, or more than 64 keys being sent
   */
  dtmf(digits: string): void;
  /**
   * Plays the queue and a short silence, then ends the call as `COMPLETED/stream_closed`; to end it at once, call
   * {@link clear} first. Before the answer it ends the call at once, as `FAILED/terminated`.
   */
  hangUp(): void;
  /**
   * Detaches the client after it has disconnected. If that was on purpose, the call ends as with {@link hangUp};
   * otherwise it waits a while for another client.
   */
  detach(isIntentional: boolean): void;
}

/**
 * A stream that is reserved for one client, which is not connected yet. The reservation expires if the client does not
 * attach within `streamAttachMs`.
 */
export interface StreamReservation {
  /**
   * Attaches the client, which immediately receives the events so far. Call it once.
   * @throws {Refusal} `stream_already_attached`: the reservation has already been used or given up
   * @throws {RangeError} `calleeRate` is not a multiple of 50 from 4000 to 192000 Hz
   */
  attach(client: StreamClient): StreamAttachment;
  /** Gives up the reservation. Idempotent; no effect once the client is attached. */
  release(): void;
}

/** Length of the queue above which `buffer_high` is emitted, ms. */
export const HIGH_QUEUED_MS = 30_000;
/** Length of the queue below which `buffer_low` is emitted after `buffer_high`, ms. */
export const LOW_QUEUED_MS = 15_000;
/** Length of the queue above which the client is detached, ms. */
export const MAX_QUEUED_MS = 60_000;

/**
 * Name and data that a stream's client receives for an event of the call; undefined if it does not receive the event.
 */
export function streamEventOf(event: Event): { name: StreamEventName; data: StreamEventData } | undefined {
  switch (event.type) {
    case "ringing":
    case "answered":
      return { name: event.type, data: {} };
    case "dtmf":
      return { name: event.type, data: { digit: event.data.digit } };
    case "beep":
    case "answered_by":
      return { name: event.type, data: event.data };
    case "line_tone":
      return { name: event.type, data: { tone: event.data.tone, at_ms: event.data.at_ms } };
    case "completed":
    case "failed":
      return { name: event.type, data: { reason: event.data.reason } };
    default:
      return undefined;
  }
}
