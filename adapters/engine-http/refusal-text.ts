import { quoteOf } from "./fault-text.ts";

/**
 * The meaning of a refusal and its fix; completes a sentence such as "the transcription server …".
 * @param settings what the names of the server's settings begin with, such as `RINGPORT_TRANSCRIPTION`
 */
export function refusalText(status: number, body: unknown, settings: string): string {
  const quote = quoteOf(body);
  return `answered ${status}${quote ? `: ${quote}` : ""}${adviceFor(status, settings)}`;
}

/** Whether another attempt cannot help: the key, the address or the model is wrong. */
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
