import type { NumberedEvent } from "../../domain/events.ts";
import type { View } from "../response-types.ts";
import { timestamp } from "../timestamp.ts";

/** An event in a response, a stream or the message of a webhook. */
export function eventView(event: NumberedEvent): View<"Event"> {
  return {
    id: event.id,
    type: event.type,
    timestamp: timestamp(event.timestamp),
    call_id: event.callId,
    instance_id: event.instanceId,
    sequence: event.sequence,
    data: event.data,
  } as View<"Event">;
}
