import type { Event, LoggedEvent } from "../../domain/events.ts";

/** A page of the log. */
export interface LogPage {
  /** Most events to return; undefined: all. */
  readonly limit?: number | undefined;
  /** The page holds events of a higher position; undefined: it begins with the first event. */
  readonly after?: number | undefined;
}

/**
 * The append-only log. Each user has their own; its positions start at 1 and rise, with gaps. The events of a call are
 * numbered from 1 by their positions, without gaps, and never again: they are deleted together, with their call.
 */
export interface EventStore {
  /** Stores all events or none. */
  append(events: readonly Event[]): Promise<void>;
  /** The timeline of a call, by ascending position. Returns committed events only. */
  ofCall(callId: string, page: LogPage): Promise<LoggedEvent[]>;
  /** All events of a user, or of one of their instances, by ascending position. Returns committed events only. */
  ofUser(userId: string, filter: { instanceId?: string | undefined }, page: LogPage): Promise<LoggedEvent[]>;
  /**
   * The position for an old cursor, which is an event id. If the user's event no longer exists: the position of the last
   * older event (by id) among those stored before positions existed, or 0.
   */
  positionOf(userId: string, eventId: string): Promise<number>;
  /** The highest position in the log of a user; 0 if it is empty. */
  lastPosition(userId: string): Promise<number>;
  /** The greatest id of all events, calls and instances, compared without prefixes; undefined if there is none. */
  newestId(): Promise<string | undefined>;
}
