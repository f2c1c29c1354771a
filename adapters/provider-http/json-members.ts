/** A text; empty for any other value. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A finite number; undefined for any other value. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** The members of an object; none for any other value. */
export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/** The items of an array; none for any other value. */
export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
