import process from "node:process";
import { errorText } from "../../src/base/error.ts";
import { RingportError } from "../../src/client/ringport-error.ts";
import { Refusal } from "../../src/domain/refusal.ts";
import { unreachableText } from "./connection/unreachable.ts";
import { EXIT } from "./exit-codes.ts";
import { hideTokens } from "./serve/hide-secrets.ts";
import { printToStderr } from "./terminal/terminal.ts";
import { UsageError } from "./usage-error.ts";

/** An error in the form that `--json` prints. */
interface Problem {
  /** A code of the HTTP interface, or `usage`, or `failed`. */
  readonly code: string;
  readonly detail: string;
  /** Status of the HTTP response; null if there was none. */
  readonly status: number | null;
  readonly request_id: string | null;
  /** Every fault of the input. */
  readonly errors: readonly unknown[];
}

/** Prints why a command failed, in one line or as one JSON document; returns the exit code. */
export function explain(error: unknown, { json }: { json: boolean }): number {
  const problem = problemOf(error);
  // A token may have been pasted by mistake.
  printToStderr(hideTokens(json ? JSON.stringify(problem) : `ringport: ${sentence(problem)}`));
  if (process.env.LOG_LEVEL === "debug" && !(error instanceof UsageError))
    printToStderr(hideTokens(error instanceof Error ? (error.stack ?? "") : ""));
  return exitCode(error);
}

function problemOf(error: unknown): Problem {
  const detail = errorText(error).replace(/\s*\n\s*/g, " ");
  if (!(error instanceof RingportError)) {
    const code = error instanceof Refusal ? error.code : error instanceof UsageError ? "usage" : "failed";
    return { code, detail, status: null, request_id: null, errors: error instanceof Refusal ? error.errors : [] };
  }
  const { code, status, requestId, errors } = error;
  return { code, detail: withFix(error), status: status || null, request_id: requestId, errors };
}

/** The server's message, with the fix for faults of the connection. */
function withFix(error: RingportError): string {
  const { code, status, detail } = error;
  if (code === "network_error") return unreachableText(error.message.replace(/ did not respond.*$/s, ""), error);
  if (status === 401)
    return `${detail}; check RINGPORT_TOKEN, or create a token on the server's machine: ringport token create --user NAME`;
  if (code === "unexpected_answer") return `${detail}: this is not a Ringport server; check RINGPORT_URL`;
  if (code === "not_found") return `${detail}; check RINGPORT_URL, which must include the base path`;
  return detail;
}

/** The message, or every fault if there are several. */
function sentence({ detail, errors }: Problem): string {
  if (errors.length < 2) return detail;
  const faults = errors as readonly { pointer: string; detail: string }[];
  return faults.map((fault) => `${fault.pointer || "body"}: ${fault.detail}`).join("; ");
}

function exitCode(error: unknown): number {
  if (error instanceof RingportError) {
    const { status, code } = error;
    return code === "network_error" || (status >= 400 && status < 500) ? EXIT.usage : EXIT.failed;
  }
  const isBug = error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError;
  return isBug ? EXIT.failed : EXIT.usage;
}
