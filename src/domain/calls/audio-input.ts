import { base64Bytes, decodeBase64, withoutDataPrefix } from "../../base/base64.ts";

/** An audio file in place of the Base64 text that it was decoded from. */
export class UploadedAudio {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** SHA-256 of the bytes, lower-case hex. */
  readonly sha256: string;

  constructor(bytes: Uint8Array<ArrayBuffer>, sha256: string) {
    this.bytes = bytes;
    this.sha256 = sha256;
  }

  /** Two requests with the same file are the same request. */
  toJSON(): string {
    return this.sha256;
  }
}

export const NOT_BASE64 = "is not Base64 (RFC 4648, padded, without line breaks)";

/**
 * Fault of an audio file before it is decoded as audio; undefined if there is none.
 * @param maxBytes maximum size of the file
 */
export function audioFault(audio: string | UploadedAudio, maxBytes: number): string | undefined {
  const text = typeof audio === "string" ? withoutDataPrefix(audio) : "";
  if (text !== "" && (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text))) return NOT_BASE64;
  const bytes = typeof audio === "string" ? base64Bytes(text) : audio.bytes.length;
  if (bytes === 0) return "the audio file is empty";
  return bytes > maxBytes ? `the file has ${bytes} bytes, at most ${maxBytes} are allowed` : undefined;
}

/** Place of an audio file in a parsed body. */
export interface AudioPlace {
  audioBase64: string | UploadedAudio;
}

/** A stored audio file in a checked body. */
export interface StoredAudioPlace {
  audioId: string;
}

/** The place of the audio file in a parsed body, if it is a string. */
export function audioPlace(body: unknown): (AudioPlace & { audioBase64: string }) | undefined {
  const audio = (body as { audio?: Partial<AudioPlace> | null } | null)?.audio;
  return typeof audio?.audioBase64 === "string" ? (audio as AudioPlace & { audioBase64: string }) : undefined;
}

/** The file in a Base64 text; undefined if it is not Base64. */
export function decodeFile(audioBase64: string): Uint8Array<ArrayBuffer> | undefined {
  return decodeBase64(withoutDataPrefix(audioBase64));
}
