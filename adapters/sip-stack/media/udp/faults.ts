/** Whether a bind failed because the port is in use, so that another one may be free. */
export function isTaken(fault: unknown): boolean {
  const { code } = fault as { code?: unknown };
  return code === "EADDRINUSE" || code === "EACCES";
}
