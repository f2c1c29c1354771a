import { CodedError } from "../../src/base/error.ts";

/** Thrown for mistakes that the user can fix; its one line names the wrong value and the fix. */
export class UsageError extends CodedError {
  override readonly name = "UsageError";
  readonly code = "usage_error";
}
