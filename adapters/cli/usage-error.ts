/** Thrown for what the person at the terminal can put right; its one line names the wrong value and the fix. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
