import type { CallEnd } from "./call-types.ts";

const sentence = (text: string, reason: string | undefined): string =>
  reason === undefined ? text : `${text}: ${reason}`;

/** What a `<terminate>` before the answer means, by its reason. */
const TERMINATIONS: ReadonlyMap<string | undefined, CallEnd> = new Map<string | undefined, CallEnd>([
  [undefined, { cause: "declined", detail: "terminated before the answer" }],
  ["timeout", { cause: "no_answer", detail: "timeout" }],
  ["busy", { cause: "busy", detail: "busy" }],
  ["declined", { cause: "declined", detail: "declined" }],
  ["rejected_elsewhere", { cause: "declined", detail: "rejected_elsewhere" }],
  ["do_not_disturb", { cause: "declined", detail: "do_not_disturb" }],
]);

/** The end of a call that the network terminates before a device has accepted. */
export function terminationOf(reason: string | undefined): CallEnd {
  return TERMINATIONS.get(reason) ?? { cause: "rejected_by_network", detail: sentence("terminated", reason) };
}

/** What the client's own reasons mean before a device has accepted. Only `user_ended` was ever seen. */
const CLIENT_REASONS: ReadonlyMap<string, CallEnd> = new Map<string, CallEnd>([
  ["timeout", { cause: "no_answer", detail: "timeout" }],
  ["busy", { cause: "busy", detail: "busy" }],
  ["declined", { cause: "declined", detail: "declined" }],
  ["do_not_disturb", { cause: "declined", detail: "do_not_disturb" }],
  ["failed", { cause: "rejected_by_network", detail: "the client reports: failed" }],
]);

/** The end of a call that the client reports as ended, while no device had accepted. */
export function unansweredEnd(reason: string | undefined): CallEnd {
  return CLIENT_REASONS.get(reason ?? "") ?? { cause: "declined", detail: "ended before the answer" };
}

/** The end of a call that the client reports as ended, after a device had accepted. */
export function answeredEnd(reason: string | undefined): CallEnd {
  return reason === "failed" ? { cause: "media_failed", detail: "the client reports: failed" } : HUNG_UP;
}

/** The end of a call that all devices have rejected, each for itself. */
export function rejectedByAll(reasons: readonly string[]): CallEnd {
  if (reasons.every((reason) => reason === "busy")) return { cause: "busy", detail: "busy" };
  return { cause: "declined", detail: sentence("rejected by each device", [...new Set(reasons)].join(", ")) };
}

export const DECLINED: CallEnd = { cause: "declined", detail: "rejected by the callee" };
export const RELEASED: CallEnd = { cause: "released", detail: null };
export const HUNG_UP: CallEnd = { cause: "callee_hung_up", detail: null };

export const refused = (code: string): CallEnd => ({
  cause: "rejected_by_network",
  detail: `WhatsApp refused the offer: error ${code}`,
});
export const notAcknowledged = (ms: number): CallEnd => ({
  cause: "rejected_by_network",
  detail: `signaling timeout: WhatsApp did not acknowledge the offer within ${ms / 1_000} s`,
});
export const withoutMedia = (ms: number): CallEnd => ({
  cause: "media_failed",
  detail: `no audio path came up within ${ms / 1_000} s of the answer`,
});
export const lineLost = (reason: string): CallEnd => ({ cause: "line_lost", detail: reason });
