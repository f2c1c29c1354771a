import type { EventData } from "../../../domain/events.ts";

/** What a client of a stream can be told in a `call_event`. */
export const STREAM_EVENTS = [
  "ringing",
  "answered",
  "dtmf",
  "beep",
  "mark",
  "cleared",
  "completed",
  "failed",
  "transcripts_unavailable",
  "buffer_high",
  "buffer_low",
  /** The client reads too slowly and has lost some of the callee's audio; told by whoever carries it. */
  "audio_dropped",
] as const;
/** One of {@link STREAM_EVENTS}. */
export type StreamEventName = (typeof STREAM_EVENTS)[number];

/** Something that happened on a call with a live stream. */
export interface StreamEvent {
  readonly event: StreamEventName;
  /** ms since 1970-01-01 UTC. */
  readonly timestamp: number;
  /** What it adds: `digit`, `name`, `heard_ms`, `reason` and the like. */
  readonly data: EventData;
}

/** What somebody said, or has said so far. */
export interface Transcript {
  readonly text: string;
  /** When it was said, as far as that is known; ms since 1970-01-01 UTC. */
  readonly timestamp: number;
  /** False: the engine may still change its mind. */
  readonly final: boolean;
  readonly speaker: "callee" | "caller";
}

/**
 * Why the core lets go of a client: the call is over, as its last event said; more than {@link MOST_QUEUED_MS} of audio
 * were waiting; or this process stops.
 */
export type StreamEnd = "completed" | "failed" | "overflow" | "stopping";

/**
 * Who carries the audio of a call from outside: a WebSocket, or an embedding program. It is told what happens on the
 * call, within the leg's clock: no method may wait or throw.
 */
export interface StreamClient {
  /** The rate at which it wants the callee's audio, Hz; undefined: it wants none. */
  readonly calleeRate: number | undefined;
  event(event: StreamEvent): void;
  /**
   * Somebody said something. A final one that the client before may not have got is told again: it has the same speaker
   * and timestamp.
   */
  transcript(transcript: Transcript): void;
  /** The next 20 ms of the callee's audio at `calleeRate`, from the answer on, without gaps. Valid during the call only. */
  callee(frame: Int16Array): void;
  /** Nothing more comes; the client is not attached any more. */
  over(end: StreamEnd): void;
}

/** What an attached client can do. All of it is nothing once the client is not attached any more. */
export interface StreamAttachment {
  /**
   * Adds audio to the end of what the callee is to hear; what comes before the answer waits for it. Any length, and pieces of
   * any size are one continuous stream; the array is not kept. While the far side holds the call, what waits waits on.
   * @throws {RangeError} a rate that is no whole number from 4000 to 192000 Hz
   */
  write(samples: Int16Array, sampleRate: number): void;
  /** What waits to be played, ms. */
  readonly queuedMs: number;
  /** Messages that were taken from this client and from those before it: who comes back learns from it what got lost. */
  readonly messages: number;
  /** One more message was taken. */
  took(): void;
  /**
   * Asks to be told, by the event `mark`, when everything written so far has been played; at once where nothing waits.
   * @throws {RangeError} 10,000 marks wait already
   */
  mark(name: string): void;
  /**
   * Drops what waits, marks included; the event `cleared` tells how much was heard of all the audio of the call, in
   * `heard_ms`. After {@link hangUp} the call ends at once.
   */
  clear(): void;
  /**
   * Presses keys. They are sent at once, whatever audio waits, or at the answer; where the network takes no keys they are
   * tones at the end of what waits.
   * @throws {RangeError} other characters than 0-9 * # A-D, or more than 64 keys on their way
   */
  dtmf(digits: string): void;
  /**
   * Plays what waits, and a short silence, then ends the call as `COMPLETED/stream_closed`; to end it now, {@link clear}
   * comes first. Before the answer it ends the call at once, as `FAILED/terminated`.
   */
  hangUp(): void;
  /**
   * The client has gone. On purpose: as {@link hangUp}. Otherwise the call waits a while for it, or for another one.
   */
  detach(onPurpose: boolean): void;
}

/**
 * A place at a stream, taken before the client is there: nobody else gets it meanwhile. It is given up by itself when the
 * client has not come within `streamAttachMs`.
 */
export interface StreamReservation {
  /**
   * The client is there. It is told at once what has happened so far. Once only.
   * @throws {Refusal} `stream_already_attached`: the place was used before, or given up
   * @throws {RangeError} the client wants audio at a rate that cannot be had: no multiple of 50 from 4000 to 192000 Hz
   */
  attach(client: StreamClient): StreamAttachment;
  /** The client will not come. Twice is fine, and so is once it has come. */
  release(): void;
}

/** Above this the client is told that it is too fast (`buffer_high`), ms. */
export const HIGH_QUEUED_MS = 30_000;
/** Below this, once it was told so, that it may go on (`buffer_low`), ms. */
export const LOW_QUEUED_MS = 15_000;
/** More than this does not wait: the client is let go, ms. */
export const MOST_QUEUED_MS = 60_000;
