/** True if a JSON value is nested deeper than this many levels. */
export function depthOver(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((inner) => depthOver(inner, levels - 1));
}
