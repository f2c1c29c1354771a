import { CodedError } from "../base/error.ts";

/**
 * Reason why bytes cannot be decoded: `not_audio` (an unknown format), `unsupported` (a known format that we do not
 * decode), `malformed` (broken bytes of a format that we decode).
 */
export type AudioFormatErrorKind = "not_audio" | "unsupported" | "malformed";

/** Thrown when bytes cannot be decoded as audio; the message is a sentence that names the wrong value. */
export class AudioFormatError extends CodedError {
  override readonly name = "AudioFormatError";
  readonly code = "audio_unsupported";
  readonly kind: AudioFormatErrorKind;

  constructor(kind: AudioFormatErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }
}
