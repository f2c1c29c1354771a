/** RFC 3339, UTC, milliseconds, from ms since 1970-01-01 UTC. */
export function timestamp(ms: number): string {
  return new Date(ms).toISOString();
}

/** {@link timestamp}, or null. */
export function maybeTimestamp(ms: number | null): string | null {
  return ms === null ? null : timestamp(ms);
}
