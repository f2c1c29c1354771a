/** A human-readable time: `2026-11-27 04:05 UTC`. @param ms since 1970-01-01 UTC */
export function utc(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
