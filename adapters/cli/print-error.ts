import process from "node:process";
import { CodedError, errorText } from "../../src/base/error.ts";
import { RingportError } from "../../src/client/ringport-error.ts";
import { Refusal } from "../../src/domain/refusal.ts";
import { unreachableText } from "./connection/unreachable.ts";
import { EXIT } from "./exit-codes.ts";
import { detailText, optionFaultText, type RequestFault, type TypedCommand } from "./request-fields.ts";
import { hideTokens } from "./serve/hide-secrets.ts";
import { printToStderr } from "./terminal/terminal.ts";
import { IncompleteError, UsageError } from "./usage-error.ts";

/** An error in the form that `--json` prints. */
interface Problem {
  /** An error code of the HTTP API, or `usage`, or `failed`. */
  readonly code: string;
  readonly detail: string;
  /** Status of the HTTP response; null if there was none. */
  readonly status: number | null;
  readonly request_id: string | null;
  /** Every fault of the input. */
  readonly errors: readonly unknown[];
}

interface ExplainOptions {
  readonly json: boolean;
  /** The failed command; undefined if none was recognised. */
  readonly typedCommand?: TypedCommand | undefined;
}

/** Prints why a command has failed, on one line or as one JSON document; returns the exit code. */
export function explain(failure: unknown, { json, typedCommand }: ExplainOptions): number {
  const error = failure instanceof IncompleteError ? failure.cause : failure;
  const problem = problemOf(error, typedCommand);
  const detail = failure instanceof IncompleteError ? `${problem.detail}; ${failure.message}` : problem.detail;
  // A token may have been pasted by mistake.
  printToStderr(hideTokens(json ? JSON.stringify({ ...problem, detail }) : `ringport: ${detail}`));
  if (process.env.LOG_LEVEL === "debug" && !(error instanceof UsageError))
    printToStderr(hideTokens(error instanceof Error ? (error.stack ?? "") : ""));
  return exitCode(error);
}

function problemOf(error: unknown, typedCommand: TypedCommand | undefined): Problem {
  const onOneLine = (text: string): string => text.replace(/\s*\n\s*/g, " ");
  if (!(error instanceof RingportError)) {
    const code = error instanceof Refusal ? error.code : error instanceof UsageError ? "usage" : "failed";
    const errors = error instanceof Refusal ? error.errors : [];
    const detail = onOneLine(faultTexts(errors, typedCommand) ?? errorText(error));
    return { code, detail, status: null, request_id: null, errors };
  }
  const { code, status, requestId, errors } = error;
  const detail = onOneLine(faultTexts(errors, typedCommand) ?? withFix(error));
  return { code, detail, status: status || null, request_id: requestId, errors };
}

/** All input faults; undefined if there are none. */
function faultTexts(errors: readonly RequestFault[], typedCommand: TypedCommand | undefined): string | undefined {
  return errors.length === 0 ? undefined : errors.map((fault) => optionFaultText(fault, typedCommand)).join("; ");
}

/** The server's message, with a fix for connection faults. */
function withFix(error: RingportError): string {
  const { code, status, detail } = error;
  if (code === "network_error") return unreachableText(error.message.replace(/ did not respond.*$/s, ""), error);
  if (status === 401)
    return `${detail}; check RINGPORT_TOKEN, or create a token on the server's machine: ringport token create --user NAME`;
  if (code === "unexpected_answer") return `${detail}: this is not a Ringport server; check RINGPORT_URL`;
  if (code === "not_found") return `${detail}; check RINGPORT_URL, which must include the base path`;
  return detailText(detail);
}

/** Codes of faults that are not the user's mistake, such as an unreachable server or a damaged download. */
const FAILURES: ReadonlySet<string> = new Set(["connection_lost", "model_not_installed"]);

function exitCode(error: unknown): number {
  if (error instanceof RingportError) {
    const { status, code } = error;
    return code === "network_error" || (status >= 400 && status < 500) ? EXIT.usage : EXIT.failed;
  }
  if (error instanceof CodedError && FAILURES.has(error.code)) return EXIT.failed;
  const isBug = error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError;
  return isBug ? EXIT.failed : EXIT.usage;
}
