import type { Event, EventData } from "../../../domain/events.ts";
import type { StreamEventName } from "./stream-client.ts";

/** An event of a call as its stream's client gets it; undefined for events that the client does not get. */
export function streamEventOf({ type, data }: Event): { name: StreamEventName; data: EventData } | undefined {
  switch (type) {
    case "ringing":
    case "answered":
      return { name: type, data: {} };
    case "dtmf":
      return { name: type, data: { digit: data.digit ?? "" } };
    case "beep":
      return { name: type, data };
    case "completed":
    case "failed":
      return { name: type, data: { reason: data.reason ?? null } };
    default:
      return undefined;
  }
}
