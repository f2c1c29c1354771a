/** The base class of every error that Ringport throws. Programs decide by `code`; `message` is human-readable. */
export abstract class CodedError extends Error {
  /** Kind of the failure, stable across versions, such as `storage_unavailable`. */
  abstract readonly code: string;
}

/** Thrown if Ringport cannot run with these options, settings or files; the message names the fix. */
export class ConfigurationError extends CodedError {
  override readonly name = "ConfigurationError";
  readonly code = "configuration_invalid";
}

/** Thrown if an object is used after it was stopped or closed. */
export class ClosedError extends CodedError {
  override readonly name = "ClosedError";
  readonly code = "closed";
}

/** Thrown if the program breaks one of its own rules, which is a bug to report. */
export class InternalError extends CodedError {
  override readonly name = "InternalError";
  readonly code = "internal_error";
}

/** The message of a thrown value. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const MAX_DEPTH = 5;

/**
 * A copy of an error and its causes with messages, stacks and codes only: the original may hold the request, and with
 * it tokens and bodies.
 * @param hide removes secrets from text
 */
export function printableCause(error: unknown, hide: (text: string) => string, depth = 0): Error {
  if (!(error instanceof Error)) return new Error(hide(String(error)));
  const { message, stack, cause } = error;
  const isLast = !(cause instanceof Error) || depth === MAX_DEPTH;
  const copy = new Error(hide(message), isLast ? undefined : { cause: printableCause(cause, hide, depth + 1) });
  if (stack !== undefined) copy.stack = hide(stack);
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? Object.assign(copy, { code }) : copy;
}
