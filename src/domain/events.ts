/** Everything the append-only log can say, of calls and of instances. */
export const EVENT_TYPES = [
  "queued",
  "route",
  "ringing",
  "alerting",
  "early_media",
  "answered",
  "audio_truncated",
  "message_ready",
  "message_delayed",
  "dtmf",
  "callee_speech",
  "beep",
  "held",
  "resumed",
  "signalling",
  "media.inbound_silent",
  "media.address_refused",
  "recording_incomplete",
  "recording_deleted",
  "timeline_incomplete",
  "completed",
  "failed",
  "instance.created",
  "instance.linked",
  "instance.active",
  "instance.offline",
  "instance.unlinked",
  "instance.deleted",
] as const;
/** The facts that an event reports. */
export type EventType = (typeof EVENT_TYPES)[number];

/** Whether nothing follows an event of this type in the timeline of its call. */
export function isFinalEvent(type: EventType): boolean {
  return type === "completed" || type === "failed";
}

/** What an event adds to its type; JSON, snake_case keys, durations in ms. */
export type EventData = { readonly [key: string]: string | number | boolean | null };

/** One line of the append-only log. Its id sorts by the time when it was made. */
export interface Event {
  readonly id: string;
  readonly type: EventType;
  /** ms since 1970-01-01 UTC. */
  readonly timestamp: number;
  /** Null for an event of an instance. */
  readonly callId: string | null;
  readonly instanceId: string;
  readonly userId: string;
  readonly data: EventData;
}

/** An event at its place in the log. */
export interface LoggedEvent extends Event {
  /** Its place in the log of its user: rises in the order in which events were stored. */
  readonly position: number;
}

/** The event as it is shown: places are for cursors only. */
export function withoutPosition({ position: _, ...event }: LoggedEvent): Event {
  return event;
}
