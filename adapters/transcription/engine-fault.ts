import { TranscriptionFailed } from "../../src/ports/transcription.ts";

const LONGEST_QUOTE = 200;
/** Shorter ones would be found in harmless words. */
const SHORTEST_SECRET = 4;

/** What must not appear in a message: the key and the values of headers. */
export type Secrets = readonly (string | undefined)[];

/** What went wrong with an engine, in a sentence for an operator without any secret. */
export function engineFault(sentence: string, secrets: Secrets, cause?: unknown): TranscriptionFailed {
  const safe = secrets.reduce<string>(
    (text, secret) => (secret && secret.length >= SHORTEST_SECRET ? text.replaceAll(secret, "[hidden]") : text),
    sentence,
  );
  return new TranscriptionFailed(safe, cause === undefined ? undefined : { cause });
}

/** The innermost message: runtimes wrap "connection refused" into "fetch failed". */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.cause.message ? causeOf(error.cause) : error.message;
}

/** Whether another try could not help: the key, the address or the model is wrong. */
export function isLasting(status: number): boolean {
  return status === 401 || status === 402 || status === 403 || status === 404;
}

/** What a refusal means, and what to do about it. */
export function refusalText(status: number, body: string): string {
  const quote = quoteOf(body);
  return `answered ${status}${quote ? `: ${quote}` : ""}${ADVICE[status] ?? ""}`;
}

const ADVICE: Readonly<Record<number, string>> = {
  401: " (check the key: RINGPORT_TRANSCRIPTION_KEY)",
  403: " (check what the key may do: RINGPORT_TRANSCRIPTION_KEY)",
  404: " (check RINGPORT_TRANSCRIPTION_URL and RINGPORT_TRANSCRIPTION_MODEL)",
  429: " (too many requests, or no credit left)",
};

/** A short piece of an error body: the message in it, if it has one in a usual place. */
export function quoteOf(body: string): string {
  const parsed = jsonOf(body) as { error?: { message?: unknown } | string; err_msg?: unknown; detail?: unknown } | null;
  const inner = typeof parsed?.error === "object" ? parsed.error?.message : parsed?.error;
  const text = [inner, parsed?.err_msg, parsed?.detail].find((one) => typeof one === "string") ?? body;
  const line = String(text)
    .slice(0, 10 * LONGEST_QUOTE)
    .replace(/\s+/g, " ")
    .trim();
  return line.length > LONGEST_QUOTE ? `${line.slice(0, LONGEST_QUOTE)}…` : line;
}

/** The object that a text holds; null for everything else. */
export function jsonOf(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}
