import { createHash } from "node:crypto";
import { audioPlace, decodedFile } from "../../src/domain/audio-input.ts";
import { type JsonBounds, parseJson } from "../../src/domain/json-body.ts";

/** What a parser of bodies asks of a worker. One piece. */
export interface BodyJobs {
  "parse-body": { readonly input: ParseInput; readonly piece: ParsedBody };
}

export interface ParseInput {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly bounds: JsonBounds;
}

/** A parsed body whose audio file travels beside it, or why it cannot be parsed. */
export type ParsedBody =
  | { readonly value: unknown; readonly audio?: { readonly bytes: Uint8Array<ArrayBuffer>; readonly sha256: string } }
  | { readonly fault: string };

/** Parses a body, and decodes and hashes the audio file in it, on the thread that it is called on. */
export function parseJob(
  { bytes, bounds }: ParseInput,
  { emit }: { emit(piece: ParsedBody, transfer?: readonly ArrayBuffer[]): void },
): void {
  const parsed = parseJson(bytes, bounds);
  const place = "value" in parsed ? audioPlace(parsed.value) : undefined;
  const file = place && decodedFile(place.audioBase64);
  if (file) {
    place.audioBase64 = "";
    const sha256 = createHash("sha256").update(file).digest("hex");
    emit({ ...parsed, audio: { bytes: file, sha256 } }, [file.buffer]);
  } else {
    if (place) place.audioBase64 = "!"; // as little Base64 as the text, and cheap to look at
    emit(parsed);
  }
}
