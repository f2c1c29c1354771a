/** The base class of every error that Ringport throws. Programs decide by `code`; `message` is for a person. */
export abstract class CodedError extends Error {
  /** What went wrong, stable across versions, such as `storage_unavailable`. */
  abstract readonly code: string;
}
