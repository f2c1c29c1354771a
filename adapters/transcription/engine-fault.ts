import { printableCause } from "../../src/base/printable-cause.ts";
import { TranscriptionFailed } from "../../src/ports/transcription.ts";
import { quoteOf, type Secrets, withoutSecrets } from "../engine-http/fault-text.ts";

/** What went wrong with an engine, in a sentence for an operator without any secret. */
export function engineFault(sentence: string, secrets: Secrets, cause?: unknown): TranscriptionFailed {
  const hide = (text: string) => withoutSecrets(text, secrets);
  return new TranscriptionFailed(
    hide(sentence),
    cause === undefined ? undefined : { cause: printableCause(cause, hide) },
  );
}

/** Whether another try could not help: the key, the address or the model is wrong. */
export function isLasting(status: number): boolean {
  return status === 401 || status === 402 || status === 403 || status === 404;
}

/** What a refusal means, and what to do about it. */
export function refusalText(status: number, body: unknown): string {
  const quote = quoteOf(body);
  return `answered ${status}${quote ? `: ${quote}` : ""}${ADVICE[status] ?? ""}`;
}

const ADVICE: Readonly<Record<number, string>> = {
  401: " (check the key: RINGPORT_TRANSCRIPTION_KEY)",
  403: " (check what the key may do: RINGPORT_TRANSCRIPTION_KEY)",
  404: " (check RINGPORT_TRANSCRIPTION_URL and RINGPORT_TRANSCRIPTION_MODEL)",
  429: " (too many requests, or no credit left)",
};
