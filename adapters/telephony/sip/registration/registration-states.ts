import type { Transitions } from "../../../../src/base/state-machine.ts";

/** State of a registration (RFC 3261 section 10.2). */
export type RegistrationState =
  /** No request has been sent yet. */
  | "idle"
  /** The first REGISTER, or one after a failure, is in progress. */
  | "registering"
  | "registered"
  /** Still valid; a refresh is in progress. */
  | "refreshing"
  /** Still valid, although a refresh failed; it is retried once. */
  | "shaky"
  /** No response, or a temporary refusal; retried with growing pauses. */
  | "waiting"
  /** The registrar refuses us; retried very rarely, because too many attempts may lock the account. */
  | "refused"
  /** Being removed. */
  | "leaving"
  | "closed";

export type RegistrationInput =
  | "register"
  | "accepted"
  /** The registrar has refused: wrong password, unknown user. */
  | "refused"
  /** No response, or a temporary refusal. */
  | "failed"
  /** The registration may be lost: the connection is closed, or a call did not reach the server. */
  | "suspect"
  | "close"
  | "unregistered";

/** Transitions of a registration (RFC 3261 section 10). */
export const REGISTRATION_TRANSITIONS: Transitions<RegistrationState, RegistrationInput> = {
  idle: { register: "registering", close: "closed" },
  registering: { accepted: "registered", refused: "refused", failed: "waiting", close: "leaving" },
  registered: { register: "refreshing", suspect: "refreshing", close: "leaving" },
  refreshing: { accepted: "registered", refused: "refused", failed: "shaky", close: "leaving" },
  shaky: { register: "registering", suspect: "registering", close: "leaving" },
  waiting: { register: "registering", suspect: "registering", close: "closed" },
  refused: { register: "registering", close: "closed" },
  leaving: { accepted: "closed", refused: "closed", failed: "closed", unregistered: "closed" },
  closed: {},
};

/** States in which the registration is valid. */
export const VALID_STATES: ReadonlySet<RegistrationState> = new Set(["registered", "refreshing", "shaky"]);
