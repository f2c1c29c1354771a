/** Why a challenge (RFC 3261 section 22.1) is not answered with our password. */
export interface ChallengeRefusal {
  readonly code: ChallengeRefusalCode;
  /** A sentence without its full stop. */
  readonly detail: string;
}

export type ChallengeRefusalCode =
  /** The server does not accept the user with this password. */
  | "wrong_password"
  /** No password is configured. */
  | "no_password"
  /** The password is for other realms. */
  | "other_realm"
  /** The realm has used a stronger algorithm before. */
  | "weaker_algorithm"
  /** The challenge is not from a server of the trunk. */
  | "other_server"
  /** The scheme or the algorithm is not supported. */
  | "unsupported"
  /** The response has no challenge, or calls each nonce stale. */
  | "unusable_challenge";
