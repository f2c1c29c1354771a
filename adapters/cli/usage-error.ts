import { CodedError } from "../../src/base/error.ts";

/** Thrown for mistakes that the user can fix; the message is one line that names the wrong value and the fix. */
export class UsageError extends CodedError {
  override readonly name = "UsageError";
  readonly code = "usage_error";
}

/** Thrown for a failure (the cause) that leaves something behind; the message names what is left, and the next step. */
export class IncompleteError extends CodedError {
  override readonly name = "IncompleteError";
  readonly code = "incomplete";
}
