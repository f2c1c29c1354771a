import { type Call, isActive } from "../../../domain/calls/call.ts";
import { Refusal } from "../../../domain/refusal.ts";

/** The refusal while live streams are switched off. */
export function streamsOffRefusal(): Refusal {
  return new Refusal(
    "stream_not_available",
    "live audio streams are a preview and switched off here; the server's operator switches them on with " +
      "streamPreview (RINGPORT_STREAM_PREVIEW=1)",
  );
}

/**
 * Checks that a call has a stream to attach to.
 * @throws {Refusal} `not_a_stream_call`, `call_ended`
 */
export function checkStreamable({ message, status }: Pick<Call, "message" | "status">): void {
  if (message.type !== "DYNAMIC_STREAM")
    throw new Refusal("not_a_stream_call", `the call is a ${message.type} call, not a DYNAMIC_STREAM call`);
  if (!isActive(status)) throw streamEndedRefusal(status);
}

/** The refusal once the call of a stream has ended. */
export function streamEndedRefusal(status: Call["status"]): Refusal {
  return new Refusal("call_ended", `the call is ${status}`);
}
