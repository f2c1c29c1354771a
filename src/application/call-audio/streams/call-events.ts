import type { Event } from "../../../domain/events.ts";
import type { StreamEventData, StreamEventName } from "./stream-client.ts";

/** An event of a call as its stream's client gets it; undefined for events that the client does not get. */
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
