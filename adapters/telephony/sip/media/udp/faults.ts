/** Whether the fault of a bind says that the port is somebody else's, and another one may be free. */
export function isTaken(fault: unknown): boolean {
  const { code } = fault as { code?: unknown };
  return code === "EADDRINUSE" || code === "EACCES";
}
