import type { FailedReason } from "./outcome.ts";

/** Reason for the end of a leg. */
export type ReleaseCause =
  /** The peer hung up an answered call. */
  | "callee_hung_up"
  /** We hung up. */
  | "released"
  | "busy"
  | "declined"
  | "no_answer"
  | "unreachable"
  | "number_invalid"
  | "rejected_by_network"
  /** The network does not let the number call this callee for now; nothing was dialled. */
  | "paused"
  | "media_failed"
  | "line_lost"
  | "internal_error";

/**
 * Subject of a refusal by the network (`rejected_by_network`). `number`: the calling number, so its next calls may be
 * refused too; number protection counts it. `call`: this call alone, such as its callee. An unknown scope is a `call`,
 * and so is a refusal after which the adapter itself pauses further calls.
 */
export type RefusalScope = "number" | "call";

/** The failure that each cause means before the call is connected. */
export const RELEASE_FAILURES: Readonly<Record<ReleaseCause, FailedReason>> = {
  callee_hung_up: "declined",
  released: "internal_error",
  busy: "busy",
  declined: "declined",
  no_answer: "no_answer",
  unreachable: "unreachable",
  number_invalid: "number_invalid",
  rejected_by_network: "rejected_by_network",
  paused: "instance_paused",
  media_failed: "media_failed",
  line_lost: "instance_lost",
  internal_error: "internal_error",
};
