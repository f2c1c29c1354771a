import { CodedError } from "../../../src/base/error.ts";
import { AccountRefusal, type AccountRefusalCode } from "../../../src/domain/access/account-refusal.ts";
import { problemDocument, retryAfter } from "../../../src/http/problems/problem.ts";
import type { ProblemKind } from "../../../src/http/problems/problem-kind.ts";
import type { RequestContext } from "../../../src/http/requests/request-context.ts";
import type { Reply } from "../../../src/ports/web.ts";

type Kind = Pick<ProblemKind, "status" | "title" | "headers">;

/** Codes that only the console uses. */
export type ConsoleCode = keyof typeof CONSOLE_PROBLEMS;

const CONSOLE_PROBLEMS = {
  unauthorized: {
    status: 401,
    title: "Not signed in",
    headers: { "www-authenticate": 'Cookie realm="console"' },
  },
  cross_site: { status: 403, title: "The request comes from another site" },
  accounts_off: { status: 404, title: "This server has no accounts" },
} as const satisfies Readonly<Record<string, Kind>>;

/** Codes of account refusals. */
const ACCOUNT_PROBLEMS: Readonly<Record<AccountRefusalCode, Kind>> = {
  email_invalid: { status: 400, title: "The email address is malformed" },
  password_invalid: { status: 400, title: "The password is invalid" },
  password_common: { status: 400, title: "The password is too common" },
  token_invalid: { status: 400, title: "The token's options are invalid" },
  code_invalid: { status: 403, title: "The code is unknown, used or expired" },
  registration_closed: { status: 403, title: "Registration needs an invitation" },
  sign_in_failed: { status: 403, title: "The email address or the password is wrong" },
  password_wrong: { status: 403, title: "The password is wrong" },
  admin_required: { status: 403, title: "Only an administrator may do this" },
  instance_not_found: { status: 404, title: "There is no such instance" },
  session_not_found: { status: 404, title: "There is no such session" },
  token_not_found: { status: 404, title: "There is no such token" },
  invitation_not_found: { status: 404, title: "There is no such invitation" },
  email_taken: { status: 409, title: "The email address has an account" },
  invitation_quota: { status: 409, title: "The server is at its limit of invitations" },
  token_quota: { status: 409, title: "The account is at its limit of tokens" },
  last_admin: { status: 409, title: "The last administrator cannot leave" },
  too_many_attempts: { status: 429, title: "Too many attempts" },
};

/** A refusal by the console itself. */
export class ConsoleRefusal extends CodedError {
  override readonly name = "ConsoleRefusal";
  readonly code: ConsoleCode;

  constructor(code: ConsoleCode, detail: string) {
    super(detail);
    this.code = code;
  }
}

/** The problem document for a refusal by the console or its accounts; undefined for any other error. */
export function consoleProblem(context: RequestContext, error: unknown): Reply | undefined {
  if (error instanceof ConsoleRefusal) return aboutBlank(context, CONSOLE_PROBLEMS[error.code], error);
  if (!(error instanceof AccountRefusal)) return undefined;
  return aboutBlank(context, ACCOUNT_PROBLEMS[error.code], error, retryAfter(error.retryAfterMs));
}

const aboutBlank = (
  context: RequestContext,
  kind: Kind,
  { code, message: detail }: ConsoleRefusal | AccountRefusal,
  headers: Readonly<Record<string, string>> = {},
): Reply => problemDocument(context, { type: "about:blank", kind, code, detail, headers });
