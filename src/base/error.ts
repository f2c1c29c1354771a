/** The base class of every error that Ringport throws. Programs decide by `code`; `message` is for a person. */
export abstract class CodedError extends Error {
  /** Kind of the failure, stable across versions, such as `storage_unavailable`. */
  abstract readonly code: string;
}

/** Ringport cannot run with these options, settings or files; the message names the fix. */
export class ConfigurationError extends CodedError {
  override readonly name = "ConfigurationError";
  readonly code = "configuration_invalid";
}

/** The object was stopped or closed before it was used. */
export class ClosedError extends CodedError {
  override readonly name = "ClosedError";
  readonly code = "closed";
}

/** A rule of the program itself is broken: a bug to report. */
export class InternalError extends CodedError {
  override readonly name = "InternalError";
  readonly code = "internal_error";
}
