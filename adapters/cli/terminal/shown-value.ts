/** A JSON value on one line; an object as `name=value` pairs, without unknown values. */
export function shownValue(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value)) return value.map(shownValue).join(", ");
  return Object.entries(value)
    .filter(([, inner]) => inner !== null && inner !== "")
    .map(([name, inner]) => `${name}=${typeof inner === "object" ? JSON.stringify(inner) : inner}`)
    .join(" ");
}
