import type { CallEvent } from "../../../../../src/client/index.ts";

type EventType = CallEvent["type"];
/** Subject of an event. */
export type EventGroup = "call" | "detail" | "number" | "batch";

/** All event types by subject; a new type is a compile error until listed here. */
const GROUP_BY_EVENT_TYPE: Readonly<Record<EventType, EventGroup>> = {
  queued: "call",
  ringing: "call",
  answered: "call",
  completed: "call",
  failed: "call",
  result_ready: "call",
  answered_by: "call",
  dtmf: "call",
  transferred: "call",
  transfer_failed: "call",
  route: "detail",
  address_resolved: "detail",
  alerting: "detail",
  early_media: "detail",
  audio_truncated: "detail",
  text_skipped: "detail",
  audio_ignored: "detail",
  message_ready: "detail",
  message_delayed: "detail",
  agent_started: "detail",
  tool_used: "detail",
  callee_speech: "detail",
  beep: "detail",
  line_tone: "detail",
  leaving_message: "detail",
  extension_dialled: "detail",
  held: "detail",
  resumed: "detail",
  signalling: "detail",
  "media.one_way": "detail",
  "media.inbound_silent": "detail",
  "media.address_refused": "detail",
  recording_incomplete: "detail",
  recording_deleted: "detail",
  timeline_incomplete: "detail",
  listening_started: "detail",
  listening_ended: "detail",
  "instance.created": "number",
  "instance.linked": "number",
  "instance.active": "number",
  "instance.offline": "number",
  "instance.unlinked": "number",
  "instance.paused": "number",
  "instance.deleted": "number",
  batch_scheduled: "batch",
  batch_started: "batch",
  batch_paused: "batch",
  batch_resumed: "batch",
  batch_completed: "batch",
  batch_cancelled: "batch",
  target_done: "batch",
};

/** The event types of a group. */
export function typesOf(group: EventGroup): EventType[] {
  return (Object.keys(GROUP_BY_EVENT_TYPE) as EventType[]).filter((type) => GROUP_BY_EVENT_TYPE[type] === group);
}

/** A call's final events. */
export const END_TYPES: readonly EventType[] = ["completed", "failed"];

/** Selection of a webhook's events: all, ends of calls, or chosen types. */
export type EventChoice = "all" | "ends" | "chosen";

export function choiceOf(events: readonly string[] | null): EventChoice {
  if (events === null) return "all";
  return events.length === END_TYPES.length && END_TYPES.every((type) => events.includes(type)) ? "ends" : "chosen";
}
