import type { JsonBounds, ParsedJson } from "../domain/json-body.ts";

/**
 * Parses large JSON bodies away from the thread that carries audio. In a body with an `audio.audioBase64` the text is
 * replaced by the {@link DecodedAudio} that it stands for; if it is not Base64, by a text that is not Base64 either.
 */
export interface BodyParser {
  /** @param bytes UTF-8, from the beginning of their buffer on, which moves to the parser and is empty afterwards */
  parse(bytes: Uint8Array<ArrayBuffer>, bounds: JsonBounds): Promise<ParsedJson>;
  close(): Promise<void>;
}
