import { inspect } from "node:util";

interface Inspector {
  inspect(value: unknown, options: object): string;
}

/** Output of every way to print a value and the rejections of its promises. */
export function printedForms(value: unknown): string {
  const { Bun, Deno } = globalThis as { Bun?: Inspector; Deno?: Inspector };
  return [
    inspect(value, { depth: 12, showHidden: true, getters: true, maxStringLength: null, maxArrayLength: null }),
    Bun?.inspect(value, { depth: 12 }),
    Deno?.inspect(value, { depth: 12, showHidden: true, getters: true, strAbbreviateSize: 100_000 }),
    asJson(value),
    String(value),
    value instanceof Error ? value.stack : undefined,
  ].join("\n");
}

/** The JSON that most loggers write: non-enumerable fields of errors are included. */
function asJson(value: unknown): string | undefined {
  const seen = new Set<unknown>();
  return JSON.stringify(value, (_, item: unknown) => {
    if (typeof item !== "object" || item === null) return item;
    if (seen.has(item)) return "seen";
    seen.add(item);
    return item instanceof Error
      ? Object.fromEntries(Object.getOwnPropertyNames(item).map((name) => [name, Reflect.get(item, name)]))
      : item;
  });
}
