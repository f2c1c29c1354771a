import type { JsonBounds, ParsedJson } from "../domain/input/json-body.ts";

/**
 * Parses large JSON bodies off the thread that carries audio. The value of an `audio.audioBase64` is replaced by its
 * {@link DecodedAudio}; if it is not Base64, by a string that is not Base64 either.
 */
export interface BodyParser {
  /**
   * @param bytes UTF-8; their buffer, which must start with them, is transferred to the parser and is empty afterwards
   */
  parse(bytes: Uint8Array<ArrayBuffer>, bounds: JsonBounds): Promise<ParsedJson>;
  close(): Promise<void>;
}
