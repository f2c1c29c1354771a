import { CodedError } from "../base/error.ts";

/**
 * Thrown for bytes that are not the expected audio. The message is for the sender, and fits into
 * the reason of a WebSocket's close frame (123 bytes).
 */
export class NotAudio extends CodedError {
  override readonly name = "NotAudio";
  readonly code = "not_audio";
}
