import type { Event, LoggedEvent } from "../../domain/events.ts";

/** A page of the log. */
export interface LogPage {
  /** Maximum number of events to return; undefined for all. */
  readonly limit?: number | undefined;
  /** The page holds events after this position; undefined to start with the first event. */
  readonly after?: number | undefined;
}

/** The result of looking up one position in a log. */
export interface LogEntry {
  /** The highest position in the log; 0 if it is empty. */
  readonly last: number;
  /** The id of the event at the position; null if the log has no event there. */
  readonly eventId: string | null;
}

/**
 * The append-only log. Each user has their own; its positions start at 1 and rise, with gaps. The events of a call are
 * numbered from 1 in the order of their positions, without gaps and permanently: they are only ever deleted together,
 * with their call.
 */
export interface EventStore {
  /** Stores all events or none. */
  append(events: readonly Event[]): Promise<void>;
  /** The timeline of a call, by ascending position. Returns committed events only. */
  ofCall(callId: string, page: LogPage): Promise<LoggedEvent[]>;
  /** All events of a user, or of one of their instances, by ascending position. Returns committed events only. */
  ofUser(userId: string, filter: { instanceId?: string | undefined }, page: LogPage): Promise<LoggedEvent[]>;
  /**
   * The position for an old cursor, which is an event id. If the user's event no longer exists: the position of the
   * last older event (by id) among those stored before positions existed, or 0.
   */
  positionOf(userId: string, eventId: string): Promise<number>;
  /** A position after which every event of a user is newer than this id, provided that ids increase with time. */
  positionBefore(userId: string, eventId: string): Promise<number>;
  /** The length of a user's log, and the id of the event at a position, by default the last. */
  lookUp(userId: string, position?: number): Promise<LogEntry>;
  /** The greatest id of all events, calls and instances, compared without prefixes; undefined if there is none. */
  newestId(): Promise<string | undefined>;
}
