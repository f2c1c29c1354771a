const MAX_QUOTE = 200;
/** Minimum length of a secret that is masked, characters: a shorter one would match parts of harmless words. */
const MIN_SECRET = 4;

/** Texts that must not appear in a message: the key and the header values, which servers quote in error bodies. */
export type Secrets = readonly (string | undefined)[];

/** The message with its secrets hidden. */
export function withoutSecrets(message: string, secrets: Secrets): string {
  return secrets.reduce<string>(
    (text, secret) => (secret && secret.length >= MIN_SECRET ? text.replaceAll(secret, "[hidden]") : text),
    message,
  );
}

/** The innermost message: runtimes wrap "connection refused" in "fetch failed". */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.cause.message ? causeOf(error.cause) : error.message;
}

/** A short quote from an error body, parsed or not: its message, if that is in a usual place. */
export function quoteOf(body: unknown): string {
  const parsedBody = (typeof body === "string" ? jsonOf(body) : body) as
    | Readonly<Record<string, unknown>>
    | null
    | undefined;
  const error = parsedBody?.error as { message?: unknown } | string | null | undefined;
  const innerMessage = typeof error === "object" ? error?.message : error;
  const text = [innerMessage, parsedBody?.err_msg, parsedBody?.detail, body].find(
    (candidate) => typeof candidate === "string",
  );
  const line = (typeof text === "string" ? text : body ? JSON.stringify(body) : "")
    .slice(0, 10 * MAX_QUOTE)
    .replace(/\s+/g, " ")
    .trim();
  return line.length > MAX_QUOTE ? `${line.slice(0, MAX_QUOTE)}…` : line;
}

/** The object in JSON text; null for any other text. */
export function jsonOf(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

/**
 * The meaning of a refusal and its fix; completes a sentence such as "the transcription server …".
 * @param settings prefix of the server's settings, such as `RINGPORT_TRANSCRIPTION`
 */
export function refusalText(status: number, body: unknown, settings: string): string {
  const quote = quoteOf(body);
  return `responded with ${status}${quote ? `: ${quote}` : ""}${adviceFor(status, settings)}`;
}

/** True if another attempt cannot help, because the key, the URL or the model is wrong. */
export function isPermanent(status: number): boolean {
  return status === 401 || status === 402 || status === 403 || status === 404;
}

function adviceFor(status: number, settings: string): string {
  switch (status) {
    case 401:
      return ` (check the key: ${settings}_KEY)`;
    case 403:
      return ` (check the permissions of the key: ${settings}_KEY)`;
    case 404:
      return ` (check ${settings}_URL and ${settings}_MODEL)`;
    case 429:
      return " (too many requests, or no credit left)";
    default:
      return "";
  }
}
