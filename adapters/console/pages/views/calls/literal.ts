const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
/** Objects up to this length stay on one line. */
const ONE_LINE = 70;

/** A JSON value as TypeScript is written by hand: keys without quotes, short objects on one line. */
export function literal(value: unknown, indent = ""): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const inner = `${indent}  `;
  const [open, close, gap] = Array.isArray(value) ? ["[", "]", ""] : ["{", "}", " "];
  const items = (deeper: string): string[] =>
    Array.isArray(value)
      ? value.map((item) => literal(item, deeper))
      : Object.entries(value).map(([key, item]) => `${keyOf(key)}: ${literal(item, deeper)}`);
  const short = items("");
  if (short.length === 0) return open + close;
  const line = `${open}${gap}${short.join(", ")}${gap}${close}`;
  if (line.length <= ONE_LINE && !line.includes("\n")) return line;
  return `${open}\n${items(inner)
    .map((item) => `${inner}${item},\n`)
    .join("")}${indent}${close}`;
}

/** `__proto__: …` would set the prototype. */
function keyOf(key: string): string {
  if (key === "__proto__") return '["__proto__"]';
  return IDENTIFIER.test(key) ? key : JSON.stringify(key);
}
