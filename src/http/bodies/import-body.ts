import { shown } from "../../base/shown.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { System } from "../../ports/system.ts";
import type { RequestLike } from "../../ports/web.ts";
import { assertUncompressed } from "./body.ts";
import { limitedBody } from "./limited-body.ts";

/** Maximum size of an import of targets, bytes. */
export const MAX_IMPORT_BYTES: number = 64 << 20;
/** Maximum size of a piece of a body, bytes: its rows are split in one turn of the event loop. */
const MAX_PIECE = 16 << 10;

const TOO_LARGE = `the import is larger than ${MAX_IMPORT_BYTES} bytes (64 MiB): split it; the rows stored so far are kept`;

/** The formats of an import, by media type. */
const FORMATS: ReadonlyMap<string, ImportFormat> = new Map([
  ["application/json", "json"],
  ["application/x-ndjson", "ndjson"],
  ["application/ndjson", "ndjson"],
  ["application/jsonl", "ndjson"],
  ["text/csv", "csv"],
]);
/** Charsets of CSV files; that of each row is detected. */
const CHARSETS = /^"?(?:utf-?8|us-ascii|windows-1252|iso-8859-1)"?$/i;

export type ImportFormat = "json" | "ndjson" | "csv";

/** The format of a body with targets; JSON without a Content-Type. @throws {Refusal} `unsupported_media_type` */
export function importFormat(request: RequestLike): ImportFormat {
  assertUncompressed(request);
  const header = request.headers.get("content-type");
  if (!header) return "json";
  const [type = "", ...parameters] = header.split(";").map((part) => part.trim());
  const format = FORMATS.get(type.toLowerCase());
  if (!format)
    throw new Refusal(
      "unsupported_media_type",
      `Content-Type is ${shown(type)}: it must be text/csv, application/x-ndjson or application/json`,
    );
  for (const parameter of parameters) {
    const [name = "", value = ""] = parameter.split("=", 2).map((part) => part.trim());
    if (format === "csv" && name.toLowerCase() === "charset" && !CHARSETS.test(value))
      throw new Refusal("unsupported_media_type", `charset is ${shown(value)}: it must be utf-8 or windows-1252`);
  }
  return format;
}

/**
 * The bytes of an import as they arrive, in small pieces.
 * @throws {Refusal} `body_too_large`, `request_timeout`
 */
export async function* importBody(request: RequestLike, system: System): AsyncGenerator<Uint8Array> {
  for await (const chunk of limitedBody(request, MAX_IMPORT_BYTES, system, TOO_LARGE) ?? [])
    for (let at = 0; at < chunk.byteLength; at += MAX_PIECE) yield chunk.subarray(at, at + MAX_PIECE);
}
