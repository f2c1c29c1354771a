const DEEPEST = 5;

/**
 * A copy of an error and its causes with messages, stacks and codes only: the original may hold the request, and with it
 * tokens and bodies.
 * @param hide takes secrets out of a text
 */
export function printableCause(error: unknown, hide: (text: string) => string, depth = 0): Error {
  if (!(error instanceof Error)) return new Error(hide(String(error)));
  const { message, stack, cause } = error;
  const isLast = !(cause instanceof Error) || depth === DEEPEST;
  const copy = new Error(hide(message), isLast ? undefined : { cause: printableCause(cause, hide, depth + 1) });
  if (stack !== undefined) copy.stack = hide(stack);
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? Object.assign(copy, { code }) : copy;
}
