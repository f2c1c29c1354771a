import * as v from "valibot";
import type { StoredAudio } from "../../domain/calls/stored-audio.ts";
import type { View } from "../response-types.ts";
import { timestamp } from "../timestamp.ts";
import { count, isoTime, milliseconds, shape } from "./shape.ts";

export const audioFileShape = shape("A stored audio file.", {
  id: v.pipe(v.string(), v.startsWith("audio_")),
  name: v.nullable(v.string()),
  sha256: v.pipe(v.string(), v.description("SHA-256 of the file, lower-case hex.")),
  format: v.picklist(["wav", "mp3"]),
  bytes: v.pipe(count, v.description("Size of the file.")),
  duration_ms: milliseconds,
  truncated: v.pipe(v.boolean(), v.description("True if the file is truncated: it is shorter than its header states.")),
  created_at: isoTime,
  expires_at: v.pipe(v.nullable(isoTime), v.description("null: it is kept until it is deleted.")),
});

/** A stored audio file in a response. */
export function audioView({ id, name, sha256, size, file, createdAt, expiresAt }: StoredAudio): View<"AudioFile"> {
  return {
    id,
    name,
    sha256,
    format: file.format,
    bytes: size,
    duration_ms: file.durationMs,
    truncated: file.truncated,
    created_at: timestamp(createdAt),
    expires_at: expiresAt === null ? null : timestamp(expiresAt),
  };
}
