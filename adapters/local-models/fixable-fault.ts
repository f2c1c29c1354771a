import { CodedError } from "../../src/base/error.ts";
import { TranscriptionFailed } from "../../src/ports/transcription.ts";

/** Thrown if a speech process has ended before finishing a text. */
export class SpeechProcessFault extends CodedError {
  override readonly name = "SpeechProcessFault";
  readonly code = "speech_process_ended";
  /** Fix for the fault, as the end of the sentence "to fix it, …"; undefined if a model may be at fault. */
  readonly fix: string | undefined;

  constructor(message: string, fix: string | undefined) {
    super(message);
    this.fix = fix;
  }
}

/** Thrown if no recogniser on this machine can transcribe. */
export class LocalTranscriptionFailed extends TranscriptionFailed {
  /** The message without its fix. */
  readonly reason: string;
  /** Fix as in {@link SpeechProcessFault}; undefined if a recogniser must be installed. */
  readonly fix: string | undefined;

  constructor(reason: string, fix: string | undefined, message: string = reason) {
    super(message);
    this.reason = reason;
    this.fix = fix;
  }
}

/** The fix in an error or its cause; undefined if there is none. */
export function fixOf(error: unknown): string | undefined {
  if (error instanceof SpeechProcessFault || error instanceof LocalTranscriptionFailed) return error.fix;
  return error instanceof Error && error.cause !== undefined ? fixOf(error.cause) : undefined;
}
