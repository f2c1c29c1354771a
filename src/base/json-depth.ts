/** True if a JSON value is nested deeper than this many levels. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((inner) => isDeeperThan(inner, levels - 1));
}
