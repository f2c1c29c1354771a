/** Why a leg is gone. */
export type ReleaseCause =
  /** The far side hung up an answered call. */
  | "callee_hung_up"
  /** We hung up. */
  | "released"
  | "busy"
  | "declined"
  | "no_answer"
  | "unreachable"
  | "number_invalid"
  | "rejected_by_network"
  | "media_failed"
  | "line_lost"
  | "internal_error";
