import { type SniffedFormat, sniff } from "../../../../../src/audio/sniffing/sniff.ts";
import { encodeBase64 } from "../../../../../src/base/base64.ts";

/** An audio file that the user has chosen. */
export interface ChosenAudio {
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The format detected from the bytes, whatever the name suggests. */
  readonly format: SniffedFormat;
}

/** An audio file for the form, with its detected format. */
export function chosenAudio(name: string, bytes: Uint8Array<ArrayBuffer>): ChosenAudio {
  return { name, bytes, format: sniff(bytes) };
}

/** The media type for a file's preview; undefined if the server would refuse the file. */
export function mediaTypeOf({ format }: ChosenAudio): "audio/wav" | "audio/mpeg" | undefined {
  if (format === "wav") return "audio/wav";
  return format === "mp3" ? "audio/mpeg" : undefined;
}

/** The file as Base64, for a request. */
export function audioBase64({ bytes }: ChosenAudio): string {
  return encodeBase64(bytes);
}

/** Formats a size: 1,048,576 bytes are "1 MB". */
export function fileSize(bytes: number, language: string): string {
  const [value, unit] = bytes < 1_048_576 ? [bytes / 1024, "kilobyte"] : [bytes / 1_048_576, "megabyte"];
  return new Intl.NumberFormat(language, { style: "unit", unit, maximumFractionDigits: 1 }).format(value);
}
