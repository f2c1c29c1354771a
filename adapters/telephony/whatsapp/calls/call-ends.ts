import type { DialProgress } from "../../../../src/ports/telephony.ts";
import type { CallEnd } from "./call-states.ts";
import { isRepeated, offerError, refusalScope } from "./offer-errors.ts";

const withReason = (text: string, reason: string | undefined): string =>
  reason === undefined ? text : `${text}: ${reason}`;

export const BUSY: CallEnd = { cause: "busy", detail: "busy" };

/**
 * The end of a call that was refused for an unknown reason: the refusal does not show whether further calls are
 * affected.
 */
function unexplainedEnd(detail: string): CallEnd {
  return { cause: "rejected_by_network", detail, refusal: "call" };
}

/** The ends of calls terminated before the answer, by the reason in the `<terminate>`. */
const TERMINATIONS: ReadonlyMap<string | undefined, CallEnd> = new Map<string | undefined, CallEnd>([
  // A person who declines is reported by `<reject>`, or by a reason.
  [undefined, unexplainedEnd("terminated before the answer, without a reason")],
  ["busy", BUSY],
  ["declined", { cause: "declined", detail: "declined" }],
  ["rejected_elsewhere", { cause: "declined", detail: "rejected_elsewhere" }],
  ["do_not_disturb", { cause: "declined", detail: "do_not_disturb" }],
]);

/** Progress of a call that no device has accepted. @param hasAlerted true if a device has reported that it rings */
export function progressOf(hasAlerted: boolean): DialProgress {
  const detail = hasAlerted ? null : "WhatsApp accepted the call, but no device of the callee reported that it rings";
  return { reached: hasAlerted, detail };
}

/** The end of a call that WhatsApp or its client abandons. */
function timeoutEnd(hasAlerted: boolean): CallEnd {
  const { reached, detail } = progressOf(hasAlerted);
  return reached ? { cause: "no_answer", detail: "timeout" } : { cause: "unreachable", detail: `timeout: ${detail}` };
}

/**
 * The end of a call that the network terminates before a device has accepted.
 * @param hasAlerted as for {@link progressOf}
 */
export function terminatedEnd(reason: string | undefined, hasAlerted: boolean): CallEnd {
  if (reason === "timeout") return timeoutEnd(hasAlerted);
  return TERMINATIONS.get(reason) ?? unexplainedEnd(withReason("terminated", reason));
}

/** The ends of calls that no device had accepted, by the client's own reason. Only `user_ended` has ever been seen. */
const CLIENT_REASONS: ReadonlyMap<string, CallEnd> = new Map<string, CallEnd>([
  ["busy", BUSY],
  ["declined", { cause: "declined", detail: "declined" }],
  ["do_not_disturb", { cause: "declined", detail: "do_not_disturb" }],
  ["failed", unexplainedEnd("the client reports: failed")],
]);

/** The end of a call that the client reports as ended before a device had accepted. */
export function unansweredEnd(reason: string | undefined, hasAlerted: boolean): CallEnd {
  if (reason === "timeout") return timeoutEnd(hasAlerted);
  const detail = withReason("the client reports that the call ended before the answer", reason);
  return CLIENT_REASONS.get(reason ?? "") ?? unexplainedEnd(detail);
}

/** The end of a call that the client reports as ended, after a device had accepted. */
export function answeredEnd(reason: string | undefined): CallEnd {
  return reason === "failed" ? { cause: "media_failed", detail: "the client reports: failed" } : HUNG_UP;
}

/** The end of a call that each device has rejected only for itself; a person declines for all devices at once. */
export function rejectedEnd(reasons: readonly string[]): CallEnd {
  if (reasons.every((reason) => reason === "busy")) return BUSY;
  return { cause: "unreachable", detail: withReason("rejected by each device", [...new Set(reasons)].join(", ")) };
}

export const DECLINED: CallEnd = { cause: "declined", detail: "rejected by the callee" };
export const RELEASED: CallEnd = { cause: "released", detail: null };
export const HUNG_UP: CallEnd = { cause: "callee_hung_up", detail: null };

/** The end of a call whose offer WhatsApp has refused. A call that waits for another offer returns to the queue. */
export function refusedOfferEnd(code: string): CallEnd {
  const detail = `${offerError(code).text}: error ${code}`;
  if (isRepeated(code)) return { cause: "line_lost", detail };
  return { cause: "rejected_by_network", detail, refusal: refusalScope(code) };
}
export const unacknowledgedEnd = (ms: number): CallEnd =>
  unexplainedEnd(`signaling timeout: WhatsApp did not acknowledge the offer within ${ms / 1_000} s`);
export const noMediaEnd = (ms: number): CallEnd => ({
  cause: "media_failed",
  detail: `no audio path came up within ${ms / 1_000} s of the answer`,
});
export const lineLostEnd = (reason: string): CallEnd => ({ cause: "line_lost", detail: reason });
