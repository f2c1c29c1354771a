const DEEPEST = 5;

/**
 * A copy of an error and its causes with messages and codes only: the original may hold the request, and with it the
 * token and the body.
 * @param token taken out of messages
 */
export function printableCause(error: unknown, token: string, depth = 0): Error {
  const { message, code, cause } = (error instanceof Error ? error : { message: error }) as Record<string, unknown>;
  const text = token === "" ? String(message) : String(message).replaceAll(token, "…");
  const isLast = !(cause instanceof Error) || depth === DEEPEST;
  const copy = new Error(text, isLast ? undefined : { cause: printableCause(cause, token, depth + 1) });
  return typeof code === "string" ? Object.assign(copy, { code }) : copy;
}
