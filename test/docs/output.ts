/** Text that varies between runs: ids, times, addresses, keys, measured durations. */
const VARYING_PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\b(inst|call|evt|tok|usr|audio)_[0-9a-hjkmnp-tv-z]{26}\b/g, "$1_…"],
  [/\binst_…\.[0-9a-z]+\.[0-9a-f]{64}\b/g, "inst_….…"],
  [/\breq_[0-9a-z]+/g, "req_…"],
  [/\brp_(live|demo)_(…|[0-9A-Za-z]{49})/g, "rp_$1_…"],
  [/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{3}Z)?)?/g, "TIME"],
  [/\b(127\.0\.0\.1|localhost):\d+/g, "127.0.0.1:8080"],
  [/\/simulator\/link\/[\w-]+/g, "/simulator/link/CODE"],
  [/\bcursor=[\w-]+/g, "cursor=CURSOR"],
  [/\bW?\/?"[\w+/=-]{16,}"/g, '"TAG"'],
  [/^(date|connection|keep-alive|content-length|transfer-encoding):.*\n/gim, ""],
  [/\+1202555\d{4}(?=[^"]*$)/g, "+1202555…"],
  [/[▄▀█ ]{12,}/g, "QR"],
  [/\d+\.\d+ ?s\b/g, "N s"],
  // A message may become ready before or after the answer.
  [/^.*\bmessage_ready\b.*\n/gm, ""],
  [/(duration_ms|heard_ms|message_ms)(["=: ]+)\d+/g, "$1$2N"],
];

/** Text without the parts that vary between runs. */
export function normalize(text: string): string {
  let out = text.replaceAll("\r", "");
  for (const [pattern, replacement] of VARYING_PATTERNS) out = out.replace(pattern, replacement);
  return out
    .split("\n")
    .map((line) => line.replace(/ +/g, " ").trim())
    .join("\n")
    .trim();
}

/** Names of measured numbers, which need only be close. */
const MEASURED_NAMES = /_ms$|^packets_(sent|received)$/;
const NEAR_SHARE = 0.3;
const NEAR_MS = 400;

/**
 * Differences between a JSON value in a page and a real one. A text that ends with … matches every text with that start, and a list that ends with "…" matches longer ones.
 */
export function differences(documented: unknown, actual: unknown, at: string = "$", key: string = ""): string[] {
  if (typeof documented === "string" && typeof actual === "string") {
    const [a, b] = [normalize(documented), normalize(actual)];
    const isEqual = a === b || (documented.endsWith("…") && b.startsWith(a.slice(0, -1)));
    return isEqual ? [] : [`${at}: ${a} is documented, actual: ${b}`];
  }
  if (typeof documented === "number" && typeof actual === "number" && MEASURED_NAMES.test(key)) {
    const isNear = Math.abs(documented - actual) <= Math.max(NEAR_MS, NEAR_SHARE * actual);
    return isNear ? [] : [`${at}: ${documented} is documented, actual: ${actual}`];
  }
  if (Array.isArray(documented) && Array.isArray(actual)) {
    const isOpenEnded = documented.at(-1) === "…";
    const items = isOpenEnded ? documented.slice(0, -1) : documented;
    if (isOpenEnded ? actual.length <= items.length : actual.length !== items.length)
      return [`${at}: ${items.length} items are documented, actual: ${actual.length}`];
    return items.flatMap((item, i) => differences(item, actual[i], `${at}/${i}`));
  }
  if (isObject(documented) && isObject(actual)) {
    const names = new Set([...Object.keys(documented), ...Object.keys(actual)]);
    return [...names].flatMap((name) => differences(documented[name], actual[name], `${at}/${name}`, name));
  }
  return Object.is(documented, actual)
    ? []
    : [`${at}: ${JSON.stringify(documented)} is documented, actual: ${JSON.stringify(actual)}`];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A response as shown on a page: with a reader's addresses, shortened pictures, and on one line if it fits. */
export function formatForPage(text: string, isJson: boolean): string {
  const shortenedText = text
    .replace(/^\n+|\s+$/g, "")
    .replace(/(?:^ *[▄▀█ ]{12,}\n){5,}/gm, "…\n") // a QR code
    .replaceAll("\r", "")
    .replace(/\b127\.0\.0\.1:\d+/g, "127.0.0.1:8080")
    .replace(/\brp_(live|demo)_[0-9A-Za-z]{49}/g, "rp_$1_…");
  if (!isJson) return shortenedText;
  const value: unknown = JSON.parse(shortenedText, (_, inner) =>
    typeof inner === "string" && /^[\w+/=]{80,}$/.test(inner) ? `${inner.slice(0, 24)}…` : inner,
  );
  const shortenedValue = Array.isArray(value) && value.length > 3 ? [...value.slice(0, 2), "…"] : value;
  const line = JSON.stringify(shortenedValue);
  return line.length <= 100 ? line : JSON.stringify(shortenedValue, undefined, 2);
}
