import type { Transitions } from "../../../../src/base/machine.ts";

export type RegistrationState =
  /** Nothing was sent yet. */
  | "idle"
  /** The first REGISTER, or one after it went wrong, is under way. */
  | "registering"
  | "registered"
  /** Still valid while it is asked for anew. */
  | "refreshing"
  /** Still valid, although a refresh got no answer: asked once more. */
  | "shaky"
  /** Nobody answers, or not now: asked again, less and less often. */
  | "waiting"
  /** The registrar does not want us; asked again very rarely, because accounts are locked by too many tries. */
  | "refused"
  /** Being taken back. */
  | "leaving"
  | "closed";

export type RegistrationInput =
  | "register"
  | "accepted"
  /** The registrar says no: wrong password, unknown user. */
  | "refused"
  /** No answer, or one that is about this moment only. */
  | "failed"
  /** It is over, or nobody can say that it is not: the connection is gone, a call found nobody. */
  | "suspect"
  | "close"
  | "gone";

/** The life of a registration (RFC 3261 section 10). */
export const REGISTRATION_TRANSITIONS: Transitions<RegistrationState, RegistrationInput> = {
  idle: { register: "registering", close: "closed" },
  registering: { accepted: "registered", refused: "refused", failed: "waiting", close: "leaving" },
  registered: { register: "refreshing", suspect: "refreshing", close: "leaving" },
  refreshing: { accepted: "registered", refused: "refused", failed: "shaky", close: "leaving" },
  shaky: { register: "registering", suspect: "registering", close: "leaving" },
  waiting: { register: "registering", suspect: "registering", close: "closed" },
  refused: { register: "registering", close: "closed" },
  leaving: { accepted: "closed", refused: "closed", failed: "closed", gone: "closed" },
  closed: {},
};

/** In these the registrar knows us. */
export const VALID_STATES: ReadonlySet<RegistrationState> = new Set(["registered", "refreshing", "shaky"]);
