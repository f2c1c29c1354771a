import { type RequestLine, RingportError } from "./ringport-error.ts";
import type { CreatedCall } from "./views.ts";

/** Thrown if no call was placed, because the instance has an active call to another number or of another type. */
export class AnotherCallActive extends RingportError {
  /** The active call. */
  readonly call: CreatedCall;

  constructor(call: CreatedCall, request: RequestLine) {
    const { id, instance_id, type, target_phone } = call;
    const detail =
      `no call was placed: instance ${instance_id} has the active ${type} call ${id} to ${target_phone}; ` +
      "wait for its end, hang it up, or let calls queue (RINGPORT_QUEUE=fifo)";
    super("another_call_active", detail, { request, status: 200 });
    this.call = call;
  }
}
