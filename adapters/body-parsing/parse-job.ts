import { createHash } from "node:crypto";
import { audioPlace, decodeFile } from "../../src/domain/calls/audio-input.ts";
import { type JsonBounds, parseJson } from "../../src/domain/input/json-body.ts";

/** A body parser's jobs for a worker; each yields one piece. */
export interface BodyJobs {
  "parse-body": { readonly input: ParseInput; readonly piece: ParsedBody };
}

export interface ParseInput {
  /** Starts with the body. */
  readonly buffer: ArrayBuffer;
  /** Length of the body, bytes. */
  readonly length: number;
  readonly bounds: JsonBounds;
}

/** A parsed body with its audio file as a separate buffer, or the reason why it cannot be parsed. */
export type ParsedBody =
  | { readonly value: unknown; readonly audio?: { readonly file: ArrayBuffer; readonly sha256: string } }
  | { readonly fault: string };

/** Parses a body, and decodes and hashes the audio file in it, on the calling thread. */
export function parseJob(
  { buffer, length, bounds }: ParseInput,
  { emit }: { emit(piece: ParsedBody, transfer?: readonly ArrayBuffer[]): void },
): void {
  const parsed = parseJson(new Uint8Array(buffer, 0, length), bounds);
  // Frees the memory immediately, without waiting for garbage collection.
  (buffer as ArrayBuffer & { transfer(length: number): void }).transfer(0);
  const place = "value" in parsed ? audioPlace(parsed.value) : undefined;
  const file = place && decodeFile(place.audioBase64);
  if (file) {
    place.audioBase64 = "";
    const sha256 = createHash("sha256").update(file).digest("hex");
    emit({ ...parsed, audio: { file: file.buffer, sha256 } }, [file.buffer]);
  } else {
    if (place) place.audioBase64 = "!"; // as invalid as the original Base64, and cheap to check
    emit(parsed);
  }
}
