import { CodedError } from "../base/error.ts";

/**
 * Hashes passwords with a deliberately slow algorithm.
 *
 * A hash is a string with everything needed to verify a password later (algorithm, parameters, salt), so that the
 * parameters can change. Passwords are hashed off the thread that carries audio, a few at a time; the number of waiting
 * requests is bounded, separately for each kind of turn. The default turn is `stranger`.
 */
export interface PasswordHasher {
  /** @throws {HasherBusy} too many requests are waiting */
  hash(password: string, turn?: HashTurn): Promise<string>;
  /**
   * True if the password matches the hash. Without a hash the result is false, after the time that hashing takes, so
   * that timing does not reveal whether there was one.
   * @throws {HasherBusy} too many requests are waiting
   */
  verify(password: string, hash: string | undefined, turn?: HashTurn): Promise<boolean>;
  /** True if the hash was made with outdated parameters. */
  isOutdated(hash: string): boolean;
}

/** Priority of a waiting request: people with a session, a code or a browser that has signed in before come first. */
export type HashTurn = "known" | "stranger";

/** Thrown if too many passwords are being hashed; the caller may try again. */
export class HasherBusy extends CodedError {
  override readonly name = "HasherBusy";
  readonly code = "hasher_busy";
}
