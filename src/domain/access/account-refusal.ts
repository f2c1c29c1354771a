import { CodedError } from "../../base/error.ts";

/** Reason why a request about an account is refused. */
export type AccountRefusalCode =
  | "registration_closed"
  | "code_invalid"
  | "email_invalid"
  | "email_taken"
  | "password_invalid"
  | "password_common"
  | "password_wrong"
  | "sign_in_failed"
  | "too_many_attempts"
  | "session_not_found"
  | "last_admin"
  | "admin_required"
  | "invitation_not_found"
  | "invitation_quota"
  | "token_invalid"
  | "token_quota"
  | "token_not_found"
  | "instance_not_found";

/** Thrown by an account use case that refuses a request; no change was made. */
export class AccountRefusal extends CodedError {
  override readonly name = "AccountRefusal";
  readonly code: AccountRefusalCode;
  /** Time from now after which the same request may succeed, ms; undefined if unknown. */
  readonly retryAfterMs: number | undefined;

  constructor(code: AccountRefusalCode, detail: string, options: { retryAfterMs?: number; cause?: unknown } = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryAfterMs = options.retryAfterMs;
  }
}
