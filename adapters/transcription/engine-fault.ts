import { printableCause } from "../../src/base/error.ts";
import { TranscriptionFailed } from "../../src/ports/transcription.ts";
import { refusalText as refusal, type Secrets, withoutSecrets } from "../provider-http/fault-text.ts";

/** An engine's error, for an operator, without secrets. */
export function engineFault(message: string, secrets: Secrets, cause?: unknown): TranscriptionFailed {
  const hide = (text: string) => withoutSecrets(text, secrets);
  return new TranscriptionFailed(
    hide(message),
    cause === undefined ? undefined : { cause: printableCause(cause, hide) },
  );
}

/** The meaning of a refusal and its fix; completes the sentence "the transcription server …". */
export function engineRefusalText(status: number, body: unknown): string {
  return refusal(status, body, "RINGPORT_TRANSCRIPTION");
}
