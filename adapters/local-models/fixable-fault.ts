import { CodedError } from "../../src/base/error.ts";
import { TranscriptionFailed } from "../../src/ports/transcription.ts";

/** The end of a speech process before it had finished a text. */
export class SpeechProcessFault extends CodedError {
  override readonly name = "SpeechProcessFault";
  readonly code = "speech_process_ended";
  /** Fix of the fault, as the end of the sentence "to fix it, …"; undefined if a model may be at fault. */
  readonly fix: string | undefined;

  constructor(message: string, fix: string | undefined) {
    super(message);
    this.fix = fix;
  }
}

/** Thrown if no recogniser of this machine can transcribe. */
export class LocalTranscriptionFailed extends TranscriptionFailed {
  /** The message without its fix. */
  readonly reason: string;
  /** As of {@link SpeechProcessFault}; undefined if a recogniser must be installed. */
  readonly fix: string | undefined;

  constructor(reason: string, fix: string | undefined, message: string = reason) {
    super(message);
    this.reason = reason;
    this.fix = fix;
  }
}

/** The fix that an error or its cause carries; undefined without one. */
export function fixOf(error: unknown): string | undefined {
  if (error instanceof SpeechProcessFault || error instanceof LocalTranscriptionFailed) return error.fix;
  return error instanceof Error && error.cause !== undefined ? fixOf(error.cause) : undefined;
}
